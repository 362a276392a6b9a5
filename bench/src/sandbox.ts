import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMIT_NAMES } from '@causeway/service/kernel/config/rate-limits.ts';
import type { Hex } from 'viem';
import { startService } from '../../service/test/support/service.ts';

export const CHAIN = 'ethereum_sepolia';

/** The part of `GET /sandbox` that the benchmarks use. */
type Overview = {
  partner: { client_id: string; client_secret: string };
  other_partner: { client_id: string; client_secret: string };
  users: { email: string }[];
  chains: { chain: string; rpc_url: string; tokens: { asset_id: string; address: Hex }[] }[];
  offers: { id: string; slug: string; options: { id: string }[] }[];
};

/**
 * Starts a sandbox without the demo app and without rate limits, in a new folder unless `CAUSEWAY_DATA` is given. The
 * sandbox ends with this process at the latest.
 */
export async function startSandbox(settings: Record<string, string> = {}) {
  const limits = Object.fromEntries(
    LIMIT_NAMES.map((name) => [`RATE_LIMIT_${name.toUpperCase()}`, '1000000']),
  );
  const service = await startService({
    ...(settings.CAUSEWAY_DATA === undefined && { CAUSEWAY_DATA: newFolder() }),
    ...limits,
    ...settings,
  });
  const pid = Number(service.child.pid);
  const kill = () => process.kill(-pid, 'SIGKILL');
  process.prependOnceListener('exit', kill);
  const control = async <T>(path: string, body?: object): Promise<T> => {
    const content = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const reply = await fetch(`${service.url}/sandbox${path}`, body && { method: 'POST', ...content });
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
    return (await reply.json()) as T;
  };
  return {
    ...{ url: service.url, pid },
    overview: () => control<Overview>(''),
    createUser: () => control<{ email: string }>('/users', {}),
    /** Issues tokens as a sign-in at the partner does. */
    issueTokens: (user: { email: string; client_id?: string }) =>
      control<{ access_token: string; refresh_token: string }>('/token', user),
    /** Sends an amount in smallest units: of the asset, or gas without `asset_id`. */
    fund: (payment: { address: string; amount: string; asset_id?: string }) =>
      control(`/chains/${CHAIN}/faucet`, payment),
    mine: () => control(`/chains/${CHAIN}/mine`, { blocks: 1 }),
    stop: async () => {
      process.off('exit', kill);
      await service.stop();
    },
  };
}

/** Creates a folder that is deleted when this process exits. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
