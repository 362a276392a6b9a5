import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import {
  createCheckpointKeys,
  isCheckpoint,
  originOf,
  verifierKey,
} from '../../platform/audit/checkpoint.ts';
import {
  findBlindingKey,
  findNewestCheckpoint,
  listSealedEntries,
  readReasons,
} from '../../platform/audit/store.ts';
import { saltOf } from '../../platform/audit/tree.ts';
import { verifyAuditLog } from '../../platform/audit/verify.ts';
import { type CommandHelp, unknownCommand } from './command.ts';
import { runCommand } from './run-command.ts';

export const help: CommandHelp = {
  usage: ['audit verify [--checkpoint FILE …]', 'audit export', 'audit checkpoint'],
  description: 'Reads and verifies the sealed audit log.',
  commands: {
    verify:
      "Recomputes the log's Merkle tree and checks the signed checkpoints. If an entry was changed, removed or inserted, reports the first such entry and exits with 1.",
    export:
      'Prints every sealed entry as a line of JSON with its salt, from which its hash in the tree follows. The lines of acts for which an operator gave a reason contain the reason.',
    checkpoint:
      'Prints the newest checkpoint. Keep copies of the checkpoint outside the database, because only such copies can reveal that the whole database was rolled back or rewritten.',
  },
  options: { '--checkpoint FILE': 'A checkpoint that was kept outside the database. Repeatable.' },
  examples: {
    'audit checkpoint > checkpoint.txt': 'Keep the newest checkpoint',
    'audit verify --checkpoint checkpoint.txt': 'Verify the log against that checkpoint too',
  },
};

const EXPORT_BATCH_SIZE = 1_000;

export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { checkpoint: { type: 'string', multiple: true } },
    allowPositionals: true,
  });
  const [action = '', ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`audit ${action} takes no arguments besides options`);
  if (action === 'verify') return verify(config, values.checkpoint ?? []);
  if (values.checkpoint !== undefined) throw new UsageError('only audit verify takes --checkpoint');
  if (action === 'export') return exportEntries(config);
  if (action === 'checkpoint') return printCheckpoint(config);
  throw unknownCommand('audit', action, ['verify', 'export', 'checkpoint']);
}

async function verify(config: Config, files: readonly string[]): Promise<void> {
  const kept = await Promise.all(files.map(readCheckpoint));
  const result = await runCommand(config, (ctx) => verifyAuditLog(ctx, kept));
  if (result.problem !== null) {
    console.log(`The audit log is not intact: ${result.problem}.`);
    process.exitCode = 1;
    return;
  }
  const { start, entries, checkpoints } = result;
  const after =
    start === 0
      ? ''
      : `, starting with entry ${start + 1} (older entries were deleted after their retention period)`;
  console.log(`${entries} entries and ${checkpoints} checkpoints verified${after}.`);
}

/** For an unusable file, throws a `UsageError` (exit status 2), because status 1 means that the log is not intact. */
async function readCheckpoint(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`);
  });
  if (!isCheckpoint(text)) throw new UsageError(`${file} is not a checkpoint of an audit log`);
  return text;
}

async function exportEntries(config: Config): Promise<void> {
  await runCommand(config, async ({ db }) => {
    const key = await findBlindingKey(db);
    const reasons = await readReasons(db);
    for (let after = 0; ; ) {
      const rows = await listSealedEntries(db, after, EXPORT_BATCH_SIZE);
      for (const { position, entry } of rows) {
        const salt = saltOf(key, position).toString('hex');
        console.log(JSON.stringify({ position, entry, salt, detail: reasons.get(position) }));
      }
      if (rows.length < EXPORT_BATCH_SIZE) return;
      after = rows.at(-1)?.position ?? after;
    }
  });
}

async function printCheckpoint(config: Config): Promise<void> {
  await runCommand(config, async ({ db, sealing }) => {
    const newest = await findNewestCheckpoint(db);
    if (newest === undefined)
      throw new UsageError('there is no checkpoint yet; a running node signs one every 30 seconds');
    const key = verifierKey(createCheckpointKeys(sealing), originOf(newest.note));
    console.error(`The key that verifies this checkpoint: ${key}`);
    process.stdout.write(newest.note);
  });
}
