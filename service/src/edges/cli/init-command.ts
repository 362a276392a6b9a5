import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { environmentFile } from '../../kernel/config/environment-file.ts';
import { UsageError } from '../../kernel/errors.ts';
import { type CommandHelp, writeOutput } from './command.ts';

export const help: CommandHelp = {
  usage: ['init [FILE]', 'init --example [--write FILE]'],
  description:
    'Writes an environment file for production (default: causeway.env) that only its owner can read, with a new CAUSEWAY_SECRET and a new operator key. Replace every CHANGE_ME in it with your own value: no process starts while one is left. Never overwrites an existing file, which may hold the only copy of a secret.',
  options: {
    '--example': 'Print the same file without secrets. deploy/env.example contains this output.',
    '--write FILE': 'Write the example to FILE instead of standard output.',
  },
  examples: {
    init: 'Create causeway.env in the current folder',
    'init /etc/causeway/causeway.env': 'Create the file that the systemd unit reads',
  },
};

const DEFAULT_FILE = 'causeway.env';

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { example: { type: 'boolean', default: false }, write: { type: 'string' } },
  });
  if (values.example) {
    if (positionals.length > 0) throw new UsageError('init --example takes no FILE; use --write FILE');
    return writeOutput(values.write, environmentFile());
  }
  if (values.write !== undefined)
    throw new UsageError('--write requires --example; to create a new file, use init FILE');
  if (positionals.length > 1) throw new UsageError('init takes one file');
  await createEnvironmentFile(positionals[0] ?? DEFAULT_FILE);
}

async function createEnvironmentFile(file: string): Promise<void> {
  const operatorKey = generatePrivateKey();
  const text = environmentFile({
    CAUSEWAY_SECRET: randomBytes(32).toString('base64'),
    OPERATOR_KEY: operatorKey,
  });
  await writeNewFile(file, text);
  process.stdout.write(`Wrote ${file}.

  1. Replace every CHANGE_ME in it.
  2. Keep a copy of CAUSEWAY_SECRET away from the database backups: without it, sealed data is lost.
  3. Fund the operator ${privateKeyToAddress(operatorKey)} with gas on every chain and grant it
     its roles, or replace OPERATOR_KEY with OPERATOR_KMS_KEY.
  4. Run "causeway doctor" with these settings, then "causeway serve".
`);
}

/** Creates a file that only its owner can read. Throws if the name is already taken, even by a dangling link. */
async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new UsageError(`${file} already exists, and init never overwrites a file; choose another name`);
    throw new UsageError(`${file} cannot be written (${code})`);
  }
}
