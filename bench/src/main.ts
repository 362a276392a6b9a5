import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Each benchmark is a script in this folder that measures for some minutes and prints rows of a table. */
const NAMES = [
  'kernel',
  'checks',
  'introspection',
  'reads',
  'pages',
  'settlement',
  'load',
  'start',
  'participation',
];

const [wanted, ...args] = process.argv.slice(2);
if (wanted !== undefined && !NAMES.includes(wanted))
  throw new Error(`unknown benchmark "${wanted}"; use ${NAMES.join(', ')}`);
for (const name of wanted === undefined ? NAMES : [wanted]) {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', file, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
