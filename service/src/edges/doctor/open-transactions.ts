import type { Hex } from 'viem';
import {
  canFinish,
  describeUnfollowed,
  describeUnlisted,
  isRemoteKey,
  listUnfollowedChains,
} from '../../domain/settlement/unfinished-keys.ts';
import { realClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { OperatorKey } from '../../kernel/config/operator-key.ts';
import { SENDING_ROLES } from '../../kernel/config/role.ts';
import type { Chains } from '../../platform/chain/open-chains.ts';
import type { Db } from '../../platform/db/pool.ts';
import { readKeyAddress } from '../../platform/operator/key.ts';
import { keyFor } from '../../platform/operator/signers.ts';
import { listUnfinishedKeys, type UnfinishedKey } from '../../platform/operator/store.ts';
import { type Check, type Finding, ok, refusalFinding, skipped, warning } from './finding.ts';

const NAME = 'open transactions';

/** Returns the check for unfinished transactions that would keep a node with these settings from starting. */
export function openTransactionsCheck(config: Config, chains: Chains, db: Db | null): Check {
  return {
    name: NAME,
    run: async () => {
      if (db === null) return [skipped(NAME, 'needs a migrated database')];
      const keys = (await listUnfinishedKeys(db)).filter((each) => !isRemoteKey(config, each));
      const unfollowed = listUnfollowedChains(
        chains,
        config,
        (role, chain) => keyFor(config, role, chain) !== null,
      );
      const stranded = keys.filter(({ chain, open }) => open > 0 && unfollowed.includes(chain));
      const found = [
        ...stranded.map((key) => refusalFinding(NAME, describeUnfollowed(key))),
        ...(await judgeReplaced(config, chains, keys)),
      ];
      return found.length > 0 ? found : [ok(NAME, 'this node can finish the transactions of all its keys')];
    },
  };
}

/** Checks, on the EVM chains that have an RPC URL, whether this node can finish the transactions of replaced keys. */
async function judgeReplaced(config: Config, chains: Chains, keys: UnfinishedKey[]): Promise<Finding[]> {
  const addresses = new Map<OperatorKey, Promise<Hex>>();
  const addressOf = (key: OperatorKey) => {
    const address = addresses.get(key) ?? readKeyAddress(key, realClock());
    addresses.set(key, address);
    return address;
  };
  const followed = chains.all().map(({ name }) => name);
  const hasCurrentKey = followed.some((chain) => SENDING_ROLES.some((role) => keyFor(config, role, chain)));
  const findings: Finding[] = [];
  for (const unfinished of keys.filter(({ chain }) => followed.some((name) => name === chain))) {
    const { chain, address, count } = unfinished;
    const current = SENDING_ROLES.flatMap((role) => {
      const key = keyFor(config, role, chain);
      return key === null ? [] : [{ key, roles: [role] }];
    });
    const all = [...current, ...config.retiredKeys];
    const isHeld = await Promise.all(all.map(async ({ key }) => (await addressOf(key)) === address));
    const held = all.filter((_, i) => isHeld[i]);
    if (held.length === 0 && !hasCurrentKey)
      findings.push(
        warning(
          NAME,
          `another node must finish the transactions of ${address} on ${chain} (${count})`,
          'Check that a node with this key is running.',
        ),
      );
    else if (!canFinish(unfinished, held)) findings.push(refusalFinding(NAME, describeUnlisted(unfinished)));
  }
  return findings;
}
