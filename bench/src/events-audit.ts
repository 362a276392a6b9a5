import { sealAuditLog } from '@causeway/service/audit/sealer.ts';
import { verifyAuditLog } from '@causeway/service/audit/verify.ts';
import type { Context } from '@causeway/service/context.ts';
import { sql } from 'kysely';

export type AuditFigures = { sealedPerSecond: number; verifySeconds: number };

const BATCH_SIZE = 20_000;

/** Writes `entries` audit entries, seals them and verifies the whole log. */
export async function measureAudit(ctx: Context, entries: number): Promise<AuditFigures> {
  for (let from = 0; from < entries; from += BATCH_SIZE)
    await sql`select audit('command.run', audit_object('command', null), audit_object('command', 'bench ' || i))
      from generate_series(1, ${Math.min(BATCH_SIZE, entries - from)}::int) i`.execute(ctx.db);
  const sealing = performance.now();
  while (await sealAuditLog(ctx, 0));
  const verifying = performance.now();
  const { entries: verified, problem } = await verifyAuditLog(ctx);
  const end = performance.now();
  if (problem !== null) throw new Error(problem);
  if (verified < entries) throw new Error(`only ${verified} of ${entries} entries were verified`);
  return {
    sealedPerSecond: (entries / (verifying - sealing)) * 1000,
    verifySeconds: (end - verifying) / 1000,
  };
}
