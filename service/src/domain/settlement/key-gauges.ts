import type { Config } from '../../kernel/config/config.ts';
import { SENDING_ROLES } from '../../kernel/config/role.ts';
import { registerScraped, shareRead } from '../../kernel/scraped-gauge.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { providerName } from '../../platform/chain/rpc/endpoint.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import type { Context } from '../../platform/context/context.ts';
import { listKeyStates } from '../../platform/operator/key-state-store.ts';
import { policyOf } from '../../platform/operator/policy.ts';
import { coinsOf, daysLeft, readKeyOnChain } from '../../platform/operator/status.ts';

type Parts = Pick<Context, 'db' | 'metrics' | 'chains' | 'clock' | 'config'>;
type AnyChain = EvmChain | SolanaChain;

/**
 * Registers metrics for the operator's keys and the RPC endpoints. Each scrape reads balances, nonces and heads from
 * the chains. If a chain does not answer, the scrape lacks the balances and nonces of the keys on that chain. If an
 * endpoint does not answer, the age of its head is infinite.
 */
export function registerKeyGauges({ db, metrics: { registry }, chains, clock, config }: Parts): void {
  const all: AnyChain[] = [...chains.all(), ...chains.allSolana()];
  const readStates = shareRead(() => listKeyStates(db));
  const readOnChain = shareRead(async () => {
    const found = (await readStates()).map(async (key) => {
      const chain = all.find(({ name }) => name === key.chain);
      const onChain = chain && (await readKeyOnChain(chain, key.address).catch(() => undefined));
      return chain === undefined || onChain === undefined ? [] : [{ ...key, ...onChain, onChain: chain }];
    });
    return (await Promise.all(found)).flat();
  });
  registerScraped(
    registry,
    {
      name: 'causeway_operator_balance',
      help: 'The balance of a key, in ether or SOL.',
      labels: ['chain', 'address'],
    },
    async () =>
      (await readOnChain()).map(({ chain, address, balance, onChain }) => ({
        labels: { chain, address },
        value: coinsOf(onChain, balance),
      })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_operator_balance_days',
      help: 'How many days the balance of a key will last if the key keeps spending as much as in the last 24 hours.',
      labels: ['chain', 'address'],
    },
    async () =>
      (await readOnChain()).map(({ chain, address, balance, spent }) => ({
        labels: { chain, address },
        value: daysLeft(balance, spent),
      })),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_operator_nonce_gap',
      help: 'The next nonce of a key minus its nonce on chain. This is the number of unmined transactions. It is negative if something else used the key.',
      labels: ['chain', 'address'],
    },
    async () =>
      (await readOnChain()).flatMap(({ chain, address, nextNonce, nonce }) =>
        nextNonce === null || nonce === null
          ? []
          : [{ labels: { chain, address }, value: Number(nextNonce - nonce) }],
      ),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_operator_gas_spent',
      help: 'What a key has spent on transactions in the last 24 hours, in ether or SOL. Open transactions count at their maximum cost.',
      labels: ['chain', 'address'],
    },
    async () =>
      (await readStates()).flatMap(({ chain, address, spent }) => {
        const known = all.find(({ name }) => name === chain);
        return known === undefined ? [] : [{ labels: { chain, address }, value: coinsOf(known, spent) }];
      }),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_operator_gas_limit',
      help: 'The maximum that a key may spend on transactions in 24 hours, in ether or SOL. If several limits apply to a chain, this is the lowest.',
      labels: ['chain'],
    },
    async () =>
      all.flatMap((chain) => {
        const limit = gasLimitOf(config, chain);
        return limit === null ? [] : [{ labels: { chain: chain.name }, value: coinsOf(chain, limit) }];
      }),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_operator_value_limit',
      help: 'The maximum amount of a token that all keys of a role together may move in 24 hours, in the smallest unit of the token.',
      labels: ['chain', 'role', 'token'],
    },
    async () =>
      all.flatMap((chain) =>
        listLimits(config, chain).flatMap(({ role, dailyAmounts }) =>
          [...(dailyAmounts ?? [])].map(([token, amount]) => ({
            labels: { chain: chain.name, role, token },
            value: Number(amount),
          })),
        ),
      ),
  );
  registerScraped(
    registry,
    {
      name: 'causeway_rpc_head_age_seconds',
      help: 'The age of the newest block that an RPC endpoint reports. Endpoints are numbered in the order of RPC_URL_….',
      labels: ['chain', 'provider', 'endpoint'],
    },
    async () => (await Promise.all(all.map((chain) => readHeadAges(chain, config, clock.now())))).flat(),
  );
}

async function readHeadAges({ name, rpc }: AnyChain, { rpcUrls }: Config, now: number) {
  const heads = await rpc.survey();
  return (rpcUrls[name] ?? []).map((url, position) => {
    const head = heads.find((each) => each.position === position);
    return {
      labels: { chain: name, provider: providerName(url), endpoint: String(position + 1) },
      value: head === undefined ? Number.POSITIVE_INFINITY : now / 1000 - head.timestamp,
    };
  });
}

/**
 * Returns the limits of the roles that send transactions. Reads them from any of the configured keys, because all keys
 * have the same policy file.
 */
function listLimits({ operatorKey, roleKeys, solanaKey }: Config, { name, facts: { chainId } }: AnyChain) {
  const key = (chainId === null ? solanaKey : operatorKey) ?? roleKeys.find((each) => each.key !== null)?.key;
  const policy = key?.policy?.get(chainId ?? name);
  if (policy === undefined) return [];
  return SENDING_ROLES.map((role) => ({ role, ...policyOf(policy, role) }));
}

/**
 * Returns the lowest fee limit on this chain, or null if there is none. The policy file has a limit per role. On EVM
 * chains, `operatorDailyLimit` is a further limit.
 */
function gasLimitOf(config: Config, chain: AnyChain): bigint | null {
  const bySetting = chain.facts.chainId === null ? null : config.operatorDailyLimit;
  const limits = [bySetting, ...listLimits(config, chain).map(({ dailyFee }) => dailyFee)];
  return limits
    .filter((limit) => limit !== null)
    .reduce<bigint | null>((lowest, limit) => (lowest === null || limit < lowest ? limit : lowest), null);
}
