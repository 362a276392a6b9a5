import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The service's address as written in the guides. A run replaces it with the address of its own sandbox. */
const WRITTEN_ADDRESS = 'http://127.0.0.1:8080';
const GUIDE_TIMEOUT_MS = 240_000;

/**
 * A fenced block of a guide. HTML comments directly above it are its settings:
 * - `<!-- no-run: reason -->`: do not run the block.
 * - `<!-- expect: text -->`: the output must contain the text.
 * - `<!-- fails: text -->`: the block must exit with an error and print the text.
 */
export type Block = {
  language: string;
  code: string;
  line: number;
  comments: string[];
  noRun: string | undefined;
  expects: string[];
  fails: string | undefined;
};

const BLOCK = /((?:^<!--.*-->\n)*)^```(\w+)\n([\s\S]*?)^```$/gm;
const COMMENT = /^<!-- (no-run|expect|fails): (.+) -->$/;

export function readBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(BLOCK)].map((match) => {
    const [text, above = '', language = '', code = ''] = match;
    const comments = above.split('\n').filter((comment) => comment !== '');
    const valuesOf = (name: string) =>
      comments.flatMap((comment) => {
        const [, found, value = ''] = COMMENT.exec(comment) ?? [];
        if (found === undefined) throw new Error(`${comment} is not a comment that guides know`);
        return found === name ? value : [];
      });
    return {
      ...{ language, code, comments },
      line: markdown.slice(0, match.index + text.indexOf('```')).split('\n').length,
      noRun: valuesOf('no-run')[0],
      expects: valuesOf('expect'),
      fails: valuesOf('fails')[0],
    };
  });
}

export async function readGuide(path: string): Promise<Block[]> {
  return readBlocks(await readFile(join(ROOT, path), 'utf8'));
}

export type GuideRun = {
  /** An empty directory inside the repository, so that Node finds the packages. */
  directory: string;
  url: string;
  env: Record<string, string>;
};

/**
 * Runs a guide and returns what went wrong. First, `yaml` blocks that begin with `# name.yaml` become files. Then the
 * `sh` blocks run in one bash. Last, the `ts` blocks run together as one program.
 */
export async function runGuide(path: string, run: GuideRun): Promise<string[]> {
  const blocks = (await readGuide(path)).filter(({ noRun }) => noRun === undefined);
  const localized = blocks.map((block) => ({
    ...block,
    code: block.code.replaceAll(WRITTEN_ADDRESS, run.url),
  }));
  for (const { language, code } of localized) {
    const name = language === 'yaml' ? /^# ([\w-]+\.yaml)\n/.exec(code)?.[1] : undefined;
    if (name !== undefined) await writeFile(join(run.directory, name), code);
  }
  const shell = localized.filter(({ language }) => language === 'sh');
  await writeFile(join(run.directory, 'guide.sh'), toScript(shell));
  const failure = await execute('bash', ['guide.sh'], run);
  const problems = await findProblems(path, shell, run.directory, failure);
  const program = localized.filter(({ language }) => language === 'ts').map(({ code }) => code);
  if (problems.length > 0 || program.length === 0) return problems;
  await writeFile(join(run.directory, 'guide.ts'), program.join('\n'));
  const error = await execute(process.execPath, ['--import', 'tsx', 'guide.ts'], run);
  return error === null ? [] : [`${path}: the TypeScript blocks failed: ${error}`];
}

/**
 * Builds a script in which each block writes its output to a file `out-N`. The script stops at the first failure, so
 * the failed block is the last one with such a file.
 */
function toScript(blocks: readonly Block[]): string {
  const parts = blocks.map(({ code, fails }, index) => {
    const run = `{\n${code}} > "$OUT/out-${index}" 2>&1\n`;
    if (fails === undefined) return run;
    return `set +e\n${run}[ $? -ne 0 ] || { echo 'the block succeeded' >> "$OUT/out-${index}"; exit 1; }\nset -e\n`;
  });
  return `set -euo pipefail
OUT=$PWD
curl() { if [[ " $* " == *' -f'* ]]; then command curl "$@"; else command curl -sS --fail-with-body "$@"; fi; }
npx() { "${ROOT}/node_modules/.bin/$1" "\${@:2}"; }
${parts.join('\n')}`;
}

async function findProblems(
  path: string,
  blocks: readonly Block[],
  directory: string,
  failure: string | null,
): Promise<string[]> {
  const outputs = await Promise.all(
    blocks.map((_, index) => readFile(join(directory, `out-${index}`), 'utf8').catch(() => null)),
  );
  const last = outputs.findLastIndex((output) => output !== null);
  if (failure !== null && last === -1) return [`${path}: ${failure}`];
  return blocks.flatMap(({ line, expects, fails }, index) => {
    const output = outputs[index] ?? null;
    if (output === null) return [];
    const wanted = [...expects, ...(fails === undefined ? [] : [fails])];
    return [
      ...(failure !== null && index === last ? [`${path}:${line}: ${failure}\n${output}`] : []),
      ...wanted.flatMap((text) =>
        output.includes(text)
          ? []
          : [`${path}:${line}: the output lacks ${JSON.stringify(text)}:\n${output}`],
      ),
    ];
  });
}

/**
 * Runs a program. Returns null on success, or what went wrong. The process gets its own process group, so
 * that everything it started can be killed with it.
 */
function execute(command: string, args: string[], { directory, env }: GuideRun): Promise<string | null> {
  const child = spawn(command, args, {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      output += data;
    });
  const killGroup = () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {
      // The group is empty.
    }
  };
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      output += `\ndid not end within ${GUIDE_TIMEOUT_MS} ms`;
      killGroup();
    }, GUIDE_TIMEOUT_MS);
    child.once('exit', killGroup);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve(code === 0 ? null : `exit ${code ?? signal}\n${output}`);
    });
  });
}
