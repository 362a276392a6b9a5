import { sign, verify } from 'node:crypto';
import { ed25519Key, ed25519PublicKey } from '../../kernel/ed25519-key.ts';
import type { Sealing } from '../../kernel/sealing.ts';
import { stableJson } from '../../kernel/stable-json.ts';

/**
 * A report with an Ed25519 signature over its canonical JSON, excluding the member `signature`. `public_key` and
 * `signature` are in base64.
 */
export type SignedReport = { public_key: string; signature: string } & Record<string, unknown>;

/**
 * Signs a report. The key is derived from `CAUSEWAY_SECRET`, so signing needs no operator key, and operator keys cannot
 * be used to forge a report.
 */
export function signReport(sealing: Pick<Sealing, 'tags'>, report: object): SignedReport {
  const [seed] = sealing.tags('reconcile report', 'ed25519');
  if (seed === undefined) throw new Error('at least one secret is required');
  const { privateKey, publicKey } = ed25519Key(seed);
  const document = { ...report, public_key: publicKey.toString('base64') };
  const signature = sign(null, Buffer.from(stableJson(document)), privateKey).toString('base64');
  return { ...document, signature };
}

/** Returns whether the holder of `publicKey` has signed exactly this report. Needs neither database nor network. */
export function isReportSigned({ signature, ...document }: SignedReport, publicKey: string): boolean {
  const raw = Buffer.from(publicKey, 'base64');
  if (raw.length !== 32 || document.public_key !== publicKey || typeof signature !== 'string') return false;
  return verify(
    null,
    Buffer.from(stableJson(document)),
    ed25519PublicKey(raw),
    Buffer.from(signature, 'base64'),
  );
}
