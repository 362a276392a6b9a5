import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell comes first, because with it the tests need half as much CPU time as with the full browser. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const HELP =
  'The page tests need Chromium. Install it (Debian: apt-get install chromium) or set CHROMIUM_PATH.';

/** Starts a real browser that can only reach this machine. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    args: [
      '--headless',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
      // Chromium's sandbox does not work as root, and containers rarely allow the sandbox.
      ...(isRoot() || process.env.CI ? ['--no-sandbox'] : []),
    ],
  });
}

/** Finds or installs Chromium. Throws if that fails, because a skipped test would prove nothing. */
export function findChromium(): string {
  const configured = process.env.CHROMIUM_PATH;
  if (configured !== undefined && configured !== '') {
    if (existsSync(configured)) return configured;
    throw new Error(`CHROMIUM_PATH is ${configured}, which does not exist. ${HELP}`);
  }
  return PATHS.find((path) => existsSync(path)) ?? installChromium();
}

function installChromium(): string {
  if (!isRoot() || !existsSync('/usr/bin/apt-get')) throw new Error(HELP);
  runAptGet('update');
  try {
    runAptGet('install', '-y', '--no-install-recommends', 'chromium-headless-shell');
  } catch {
    // Older Debian releases do not package the headless shell.
    runAptGet('install', '-y', '--no-install-recommends', 'chromium');
  }
  const path = PATHS.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new Error(HELP);
  return path;
}

function runAptGet(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8', timeout: 10 * 60_000 });
  if (status !== 0) throw new Error(`apt-get ${args.join(' ')} failed. ${HELP}\n${stderr}`);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
