import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Context } from '../../src/platform/context/context.ts';

type Entry = { action: string; subject: { id: string }; detail_sha256: string | null };

/**
 * Returns the reasons that the audit log stores for this action on this subject, oldest first. Expects each entry to
 * have the hash of its reason and not the text.
 */
export async function readReasons(
  { db }: Pick<Context, 'db'>,
  action: string,
  subjectId: string,
): Promise<string[]> {
  const { rows } = await sql<{ entry: string; salt: string; reason: string }>`
    select entry, salt, reason from audit_reasons join audit_entries using (written) order by written`.execute(
    db,
  );
  return rows.flatMap(({ entry, salt, reason }) => {
    const { action: found, subject, detail_sha256 }: Entry = JSON.parse(entry);
    if (found !== action || subject.id !== subjectId) return [];
    expect(detail_sha256).toBe(createHash('sha256').update(`${salt}${reason}`).digest('hex'));
    expect(entry).not.toContain(reason);
    return [reason];
  });
}
