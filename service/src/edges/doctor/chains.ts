import type { Hex } from 'viem';
import { findKeyAddresses } from '../../domain/offer-files/role-addresses.ts';
import { planEvmRotation, planSolanaRotation, type RotationPlan } from '../../domain/settlement/rotate.ts';
import { realClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { Chains } from '../../platform/chain/open-chains.ts';
import type { EndpointHead } from '../../platform/chain/rpc/survey.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listKeyStates } from '../../platform/operator/key-state-store.ts';
import { coinsOf, daysLeft } from '../../platform/operator/status.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './finding.ts';

const MAX_HEAD_AGE_SECONDS = 300;
const LOW_BALANCE_DAYS = 7;
const MAX_SURVEYS = 3;

type AnyChain = EvmChain | SolanaChain;

/** Returns two checks per chain: one for its RPC endpoints and one for the keys that settle on it. */
export function chainChecks(config: Config, chains: Chains, db: Db | null): Check[] {
  const all: AnyChain[] = [...chains.all(), ...chains.allSolana()];
  return all.flatMap((chain) => [
    { name: `rpc ${chain.name}`, run: () => checkEndpoints(chain, config.rpcUrls[chain.name]?.length ?? 0) },
    { name: `operator ${chain.name}`, run: () => checkOperator(config, chain, db) },
  ]);
}

async function checkEndpoints(chain: AnyChain, count: number): Promise<Finding[]> {
  const name = `rpc ${chain.name}`;
  const setting = `RPC_URL_${chain.name.toUpperCase()}`;
  const network = 'chainId' in chain ? String(chain.chainId) : chain.facts.genesisHash;
  const heads = await surveyPatiently(chain, count);
  const silent = Array.from({ length: count }, (_, i) => i).filter((i) =>
    heads.every(({ position }) => position !== i),
  );
  const missing = silent.map((i) => `endpoint ${i + 1} does not answer`);
  if (heads.length === 0)
    return [failed(name, missing.join(', '), `Check the URLs and API keys in ${setting}.`)];
  const strangers = heads.filter((head) => head.network !== network);
  if (strangers.length > 0) {
    const found = strangers
      .map(({ position }) => `endpoint ${position + 1} serves another network`)
      .join(', ');
    return [failed(name, found, `Fix ${setting}; nodes refuse to start with its current value.`)];
  }
  const ageOf = ({ timestamp }: { timestamp: number }) => Math.round(realClock().now() / 1000 - timestamp);
  const late = heads.filter((head) => ageOf(head) > MAX_HEAD_AGE_SECONDS);
  const lagging = late.map((head) => `endpoint ${head.position + 1} is ${ageOf(head)} s behind`);
  if (late.length === heads.length)
    return [failed(name, lagging.join(', '), `Replace the endpoints in ${setting}.`)];
  const problems = [...missing, ...lagging];
  if (problems.length > 0) return [warning(name, problems.join(', '), `Check the endpoint in ${setting}.`)];
  const providers = new Set(heads.map(({ provider }) => provider)).size;
  return providers === 1
    ? [
        warning(
          name,
          'one provider',
          `Add a second provider to ${setting}: if the only provider fails, settlement stops.`,
        ),
      ]
    : [ok(name, `${heads.length} endpoints from ${providers} providers`)];
}

/** Repeats the survey if an endpoint did not answer in time, because one slow answer is not worth reporting. */
async function surveyPatiently({ rpc }: AnyChain, count: number): Promise<EndpointHead[]> {
  for (let attempt = 1; ; attempt++) {
    const heads = await rpc.survey();
    if (heads.length === count || attempt === MAX_SURVEYS) return heads;
  }
}

async function checkOperator(config: Config, chain: AnyChain, db: Db | null): Promise<Finding[]> {
  const name = `operator ${chain.name}`;
  if (db === null) return [skipped(name, 'needs a migrated database')];
  const { addressOf, solanaOperatorsOf } = await findKeyAddresses({ db, clock: realClock(), config }, []);
  const plans: RotationPlan[] = [];
  if ('chainId' in chain)
    for (const [address, roles] of groupRoles((role) => addressOf(role, chain.name)))
      plans.push(await planEvmRotation(db, chain, address, roles));
  else
    for (const address of solanaOperatorsOf(chain.name))
      plans.push(await planSolanaRotation(db, chain, address, SENDING_ROLES));
  if (plans.length === 0)
    return [
      warning(
        name,
        'no key: nothing will settle on this chain',
        'Set OPERATOR_KMS_KEY, OPERATOR_KEY_FILE or OPERATOR_KEY.',
      ),
    ];
  const spent = new Map((await listKeyStates(db, chain.name)).map((key) => [key.address, key.spent]));
  return plans.flatMap((plan) => [
    judgeRoles(name, plan),
    judgeGas(name, chain, plan, spent.get(plan.to) ?? 0n),
  ]);
}

function groupRoles(addressOf: (role: SendingRole) => Hex | null): Map<Hex, SendingRole[]> {
  const grouped = new Map<Hex, SendingRole[]>();
  for (const role of SENDING_ROLES) {
    const address = addressOf(role);
    if (address !== null) grouped.set(address, [...(grouped.get(address) ?? []), role]);
  }
  return grouped;
}

function judgeRoles(name: string, { to, funds }: RotationPlan): Finding {
  const lacking = funds.filter(({ missing }) => missing.length > 0);
  if (lacking.length === 0) return ok(name, `${to} has the roles it needs on ${funds.length} funds`);
  const found = lacking.map(({ fund, missing }) => `${missing.join(' and ')} on ${fund}`).join(', ');
  return failed(name, `${to} lacks ${found}`, 'The owner of the fund must grant the missing roles.');
}

function judgeGas(name: string, chain: AnyChain, { to, balance }: RotationPlan, spent: bigint): Finding {
  const days = daysLeft(BigInt(balance), spent);
  const coins = `${to} has ${coinsOf(chain, BigInt(balance))} ${chain.facts.protocol === 'solana' ? 'SOL' : 'ether'}`;
  if (BigInt(balance) === 0n)
    return failed(name, coins, 'Send funds to this address: it cannot pay for any transaction.');
  const lasts = `${coins}, enough for ${days.toFixed(1)} days`;
  if (days < 1) return failed(name, lasts, 'Send funds to this address.');
  return days < LOW_BALANCE_DAYS ? warning(name, lasts, 'Send funds to this address.') : ok(name, coins);
}
