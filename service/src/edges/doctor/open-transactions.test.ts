import { expect, test, vi } from 'vitest';
import { commandConfig, UNIT } from '../../../test/support/sale.ts';
import { submitCommit, useSale } from '../../../test/support/settlement.ts';
import type { Config } from '../../kernel/config/config.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import { run as runDoctor } from '../cli/doctor-command.ts';
import type { Finding } from './finding.ts';

const sale = useSale();

async function findingsOf(change: Partial<Config>): Promise<Finding[]> {
  let output = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += text;
    return true;
  });
  const config = { ...(await commandConfig(sale)), ...change };
  await runDoctor({ config, problems: [] }, ['--json']).finally(() => write.mockRestore());
  process.exitCode = undefined;
  const { findings } = JSON.parse(output) as { findings: Finding[] };
  return findings.filter(({ check }) => check === 'open transactions');
}

const local = (privateKey: Buffer) => ({ kind: 'local', privateKey }) as const;
const operatorKey = local(Buffer.from(deriveSandboxKey('operator').slice(2), 'hex'));
const otherKey = local(Buffer.alloc(32, 5));

test('finds the open transactions because of which a node would refuse to start', async () => {
  expect(await findingsOf({ operatorKey })).toMatchObject([{ status: 'ok' }]);
  await submitCommit(sale, 0, 5n * UNIT);
  expect(await findingsOf({ operatorKey })).toMatchObject([{ status: 'ok' }]);

  const withoutUrl = {
    status: 'failed',
    finding: expect.stringMatching(
      /^RPC_URL_ETHEREUM_SEPOLIA: must stay set while 0x[0-9a-f]{40} has open transactions/,
    ),
    remedy: expect.stringContaining('OPERATOR_KEYS_FILE'),
  };
  expect(await findingsOf({ operatorKey, rpcUrls: {} })).toMatchObject([withoutUrl]);
  expect(await findingsOf({ operatorKey: null, rpcUrls: {} })).toMatchObject([{ status: 'ok' }]);

  const unlisted = {
    status: 'failed',
    finding: expect.stringMatching(/^OPERATOR_RETIRED_KEYS: must list the replaced operator key 0x/),
    remedy: expect.stringContaining('Add its private key'),
  };
  expect(await findingsOf({ operatorKey: otherKey })).toMatchObject([unlisted]);
  const retired = (roles: ('commit' | 'refund')[]) => [{ key: operatorKey, roles }];
  expect(await findingsOf({ operatorKey: otherKey, retiredKeys: retired(['refund']) })).toMatchObject([
    unlisted,
  ]);
  expect(await findingsOf({ operatorKey: otherKey, retiredKeys: retired(['commit']) })).toMatchObject([
    { status: 'ok' },
  ]);
});
