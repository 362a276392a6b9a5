import type { Context } from '../context.ts';
import { EMPTY_CHAIN, hashChain, hashEntry } from './chain.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint.ts';
import { loadCheckpointKeys } from './former-keys.ts';
import { listCheckpoints, listSealedEntries, type SealedEntry } from './store.ts';

const BATCH_SIZE = 2_000;

export type Verification = { entries: bigint; checkpoints: number; problem: string | null };

/**
 * Recomputes the chain and compares it with every checkpoint, and with `kept` ones from outside the database. Names the
 * first entry that was changed, removed or inserted. A log that was rewritten together with its checkpoints, or rolled
 * back, differs only from a kept checkpoint.
 */
export async function verifyAuditLog(
  ctx: Pick<Context, 'db' | 'sealing'>,
  kept: readonly string[] = [],
): Promise<Verification> {
  const { db } = ctx;
  const keys = await loadCheckpointKeys(ctx);
  const notes = [...(await listCheckpoints(db)).map(({ note }) => note), ...kept];
  const signed: Checkpoint[] = [];
  for (const note of notes) {
    const checkpoint = openCheckpoint(keys, note);
    if (checkpoint === null)
      return {
        entries: 0n,
        checkpoints: notes.length,
        problem: 'a checkpoint is not signed by this installation',
      };
    signed.push(checkpoint);
  }
  signed.sort((a, b) => (a.size < b.size ? -1 : 1));
  const result = (entries: bigint, problem: string | null) => ({
    entries,
    checkpoints: notes.length,
    problem,
  });

  let position = 0n;
  let chain: Buffer = EMPTY_CHAIN;
  for (;;) {
    const batch = await listSealedEntries(db, position, BATCH_SIZE);
    for (const entry of batch) {
      const problem = findProblem(entry, position, chain);
      if (problem !== null) return result(position, problem);
      position = entry.position;
      chain = entry.chain_hash;
      const wrong = signed.find(({ size, chainHash }) => size === position && !chainHash.equals(chain));
      if (wrong !== undefined)
        return result(
          position,
          `the first ${position} entries were rewritten: they differ from a signed checkpoint`,
        );
    }
    if (batch.length < BATCH_SIZE) break;
  }
  const newest = signed.at(-1);
  if (newest !== undefined && newest.size > position)
    return result(
      position,
      `entry ${position + 1n} is missing: a checkpoint was signed for ${newest.size} entries`,
    );
  return result(position, null);
}

function findProblem(entry: SealedEntry, before: bigint, chain: Buffer): string | null {
  const { position, leaf_hash, chain_hash } = entry;
  if (position !== before + 1n) return `entry ${before + 1n} is missing`;
  const leaf = hashEntry(entry.entry);
  if (!leaf.equals(leaf_hash)) return `entry ${position} was changed`;
  if (!hashChain(chain, leaf).equals(chain_hash))
    return `entry ${position} does not follow entry ${before}: it was changed or inserted, or one before it was removed`;
  return null;
}
