import { parseArgs } from 'node:util';
import { type Hex, isAddress } from 'viem';
import { wakeSettlement } from '../../domain/holdings/wake.ts';
import { adoptNonce, NotReconciled, planAdoption } from '../../domain/settlement/adopt.ts';
import { listIdsOf } from '../../domain/settlement/backlog-store.ts';
import { planEvmRotation, planSolanaRotation } from '../../domain/settlement/rotate.ts';
import { realClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { SENDING_ROLES } from '../../kernel/config/role.ts';
import { UsageError } from '../../kernel/errors.ts';
import { createLog } from '../../kernel/log.ts';
import { createMetrics } from '../../kernel/metrics.ts';
import { decodeBase58 } from '../../platform/chain/address.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { Chains } from '../../platform/chain/open-chains.ts';
import type { Db } from '../../platform/db/pool.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import { feeLimits } from '../../platform/operator/account.ts';
import { NotDeepEnough } from '../../platform/operator/adopt.ts';
import { listKeyStates } from '../../platform/operator/key-state-store.ts';
import {
  awaitReplacement,
  planReplacement,
  requestReplacement,
} from '../../platform/operator/replacement.ts';
import { listSenders, openSigners } from '../../platform/operator/signers.ts';
import { readNonces, readOperatorStatus, readSolanaStatus } from '../../platform/operator/status.ts';
import type { ReplacementAction } from '../../platform/operator/transaction.ts';
import { type CommandHelp, chooseAction, confirm } from './command.ts';
import { runReconcile, verifyReport, writeReport } from './reconcile-command.ts';
import { runCommand, withChains } from './run-command.ts';

export const help: CommandHelp = {
  usage: [
    'operator status',
    'operator nonces CHAIN',
    'operator bump CHAIN [--nonce N] [--address ADDRESS] [--dry-run] [--yes]',
    'operator cancel CHAIN [--nonce N] [--address ADDRESS] [--dry-run] [--yes]',
    'operator adopt CHAIN [--dry-run]',
    'operator reconcile CHAIN [--from-block N] [--dry-run] [--yes]',
    'operator reconcile [CHAIN] --report [--from-block N] [--write FILE]',
    'operator verify FILE --key KEY',
    'operator rotate CHAIN --to ADDRESS [--role commit|refund]',
  ],
  description: 'Manages the operator keys and their transactions. No command needs a private key.',
  commands: {
    status:
      'Prints every key that has signed on a configured chain, with its balance, its nonce on chain, the next nonce that the service will use, and the number of its open transactions.',
    nonces:
      'Prints every key that has signed on a chain, with its nonces, its lease and its open transactions.',
    bump: "Requests that the oldest unmined transaction be replaced by one with higher fees, within the caps. The node that holds the key's lease sends the replacement. Either the original or the replacement may be mined.",
    cancel:
      'Like bump, but the replacement is an empty transfer with the same nonce. Once a cancellation is final, the participations of a cancelled commit return to pending. They are then committed again, unless they are cancelled or their offer is paused.',
    adopt:
      'Resumes settlement after another program has used a key. Once the foreign transactions are final and reconciled, the service continues from the nonce on chain. This applies to every key of this process or, if the process has no keys, to every key that has signed on the chain.',
    reconcile:
      "Compares the commits and refunds in a chain's final blocks with the database, prints a plan and applies it after confirmation. The plan adopts transactions from the operator's keys that the database has lost, for example in a restore, and pauses every offer with any other difference.",
    'reconcile --report':
      'Compares everything on one or all chains, EVM and Solana, and prints a signed JSON report with the totals of every fund and the differences of every offer. Changes nothing. Exits with 1 if there is any difference.',
    verify: 'Checks the signature of a report offline.',
    rotate:
      'Prints the plan for a new operator key, and changes nothing. The plan lists the roles and the gas that the new key lacks, what to configure, and what the old keys have to finish. Exits with 1 until the new key can take over.',
  },
  options: {
    '--from-block N': 'The first block to compare. Default: shortly before the last known transaction.',
    '--nonce N': 'The nonce of the transaction to replace. Default: the oldest unmined transaction.',
    '--address ADDRESS':
      'The sender of the transaction to replace, if several keys have unmined transactions.',
    '--dry-run': 'Only print the plan.',
    '--report':
      'Print a report instead of a plan. By default, the report starts shortly before our first transaction.',
    '--write FILE': 'Write the report to FILE instead of standard output.',
    '--to ADDRESS': 'The address of the new operator key.',
    '--role ROLE': 'The role that the new key takes over, commit or refund. Default: both.',
    '--key KEY':
      'The public key of this installation, as printed by "reconcile --report". Keep a copy outside the installation.',
    '--yes': 'Do not ask for confirmation.',
  },
  examples: {
    'operator status': 'Check the balance and the nonces',
    'operator reconcile ethereum_mainnet --dry-run': 'Compare the funds with the database',
    'operator bump ethereum_mainnet --dry-run':
      'Show the fees that it would cost to replace the oldest transaction',
    'operator cancel ethereum_mainnet --nonce 42': 'Replace a transaction with an empty transfer',
    'operator reconcile --report --write report.json': 'Compare all chains with the database',
    'operator rotate ethereum_mainnet --to 0x70997970c51812dc3a010c7d01b50e0d17dc79c8': 'Prepare a new key',
    'operator adopt ethereum_mainnet': 'Continue after a transaction was sent by hand',
  },
};

const options = {
  'from-block': { type: 'string' },
  nonce: { type: 'string' },
  address: { type: 'string' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean' },
  report: { type: 'boolean' },
  write: { type: 'string' },
  key: { type: 'string' },
  to: { type: 'string' },
  role: { type: 'string' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Action = {
  allowed: readonly (keyof typeof options)[];
  run: (config: Config, chains: Chains, chain: string, values: Values) => Promise<void>;
  argument: 'none' | 'chain' | 'optional chain' | 'file';
};

const REPLACE_OPTIONS = ['nonce', 'address', 'dry-run', 'yes'] as const;
const ACTIONS: Readonly<Record<string, Action>> = {
  status: { allowed: [], argument: 'none', run: showStatus },
  nonces: {
    ...{ allowed: [], argument: 'chain' },
    run: (config, chains, chain) => showNonces(config, openEvm(chains, chain)),
  },
  bump: {
    ...{ allowed: REPLACE_OPTIONS, argument: 'chain' },
    run: (config, chains, chain, values) => runReplace(config, openEvm(chains, chain), 'bump', values),
  },
  cancel: {
    ...{ allowed: REPLACE_OPTIONS, argument: 'chain' },
    run: (config, chains, chain, values) => runReplace(config, openEvm(chains, chain), 'cancel', values),
  },
  adopt: { allowed: ['dry-run'], argument: 'chain', run: adopt },
  reconcile: {
    ...{ allowed: ['from-block', 'dry-run', 'yes', 'report', 'write'], argument: 'optional chain' },
    run: (config, chains, chain, values) =>
      values.report === true
        ? writeReport(config, chooseChains(chains, chain), values)
        : runReconcile(config, openEvm(chains, chain), values),
  },
  rotate: { allowed: ['to', 'role'], argument: 'chain', run: planRotation },
  verify: {
    ...{ allowed: ['key'], argument: 'file' },
    run: async (_config, _chains, file, { key }) => {
      if (key === undefined)
        throw new UsageError('operator verify requires --key, the public key to check with');
      await verifyReport(file, key);
    },
  },
};

export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', chain, ...more] = positionals;
  const action = chooseAction('operator', ACTIONS, name, values);
  const { argument } = action;
  if (argument === 'none' && chain !== undefined) throw new UsageError(`operator ${name} takes no arguments`);
  if (argument === 'file' && (chain === undefined || more.length > 0))
    throw new UsageError(`operator ${name} requires one file`);
  const isOptional = argument === 'none' || (argument === 'optional chain' && values.report === true);
  if ((chain === undefined && !isOptional) || more.length > 0)
    throw new UsageError(`operator ${name} requires one chain, such as ethereum_mainnet`);
  try {
    await withChains(config, (chains) => action.run(config, chains, chain ?? '', values));
  } catch (error) {
    if (!(error instanceof NotDeepEnough || error instanceof NotReconciled)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

function openEvm(chains: Chains, name: string): EvmChain {
  const found = chains.all().find((chain) => chain.name === name);
  if (found === undefined) throw new UsageError(`${name} is not an EVM chain with an RPC URL`);
  return found;
}

function chooseChains(chains: Chains, name: string) {
  const isChosen = (chain: { name: string }) => name === '' || chain.name === name;
  const chosen = { evm: chains.all().filter(isChosen), solana: chains.allSolana().filter(isChosen) };
  if (chosen.evm.length + chosen.solana.length === 0)
    throw new UsageError(name === '' ? 'no chain has an RPC URL' : `${name} is not a chain with an RPC URL`);
  return chosen;
}

async function planRotation(
  config: Config,
  chains: Chains,
  name: string,
  { to, role }: Values,
): Promise<void> {
  const { evm, solana } = chooseChains(chains, name);
  const isValid = to !== undefined && (evm.length > 0 ? isAddress(to) : decodeBase58(to, 32) !== null);
  if (!isValid) throw new UsageError(`operator rotate requires --to, the address of the new key on ${name}`);
  const roles = SENDING_ROLES.filter((each) => role === undefined || each === role);
  if (roles.length === 0) throw new UsageError('--role must be commit or refund');
  await runCommand(config, async ({ db }) => {
    const plans = [
      ...evm.map((chain) => planEvmRotation(db, chain, to.toLowerCase() as Hex, roles)),
      ...solana.map((chain) => planSolanaRotation(db, chain, to, roles)),
    ];
    for (const plan of await Promise.all(plans)) {
      console.log(JSON.stringify(plan, null, 2));
      if (!plan.is_ready) process.exitCode = 1;
    }
  });
}

async function showNonces(config: Config, chain: EvmChain): Promise<void> {
  await runCommand(config, async ({ db }) => {
    for (const key of await readNonces(db, chain)) console.log(JSON.stringify(key, null, 2));
  });
}

async function showStatus(config: Config, chains: Chains): Promise<void> {
  await runCommand(config, async ({ db }) => {
    const keys = [
      ...(await Promise.all(chains.all().map((chain) => readOperatorStatus(db, chain)))),
      ...(await Promise.all(chains.allSolana().map((chain) => readSolanaStatus(db, chain)))),
    ];
    for (const key of keys.flat()) console.log(JSON.stringify(key, null, 2));
  });
}

async function adopt(config: Config, chains: Chains, name: string, values: Values): Promise<void> {
  const chain = openEvm(chains, name);
  await runCommand(config, async (ctx) => {
    const addresses = await listAdoptable(config, ctx.db, name);
    if (addresses.length === 0) console.log(`No key has signed on ${name}.`);
    for (const address of addresses) {
      const account = { ...ctx, chain, signer: { address } };
      if (values['dry-run'] === true) {
        const { nextNonce, displaced } = await planAdoption(account);
        console.log(`The next nonce of ${address} on ${name} would be ${nextNonce}.`);
        for (const { nonce, kind } of displaced)
          console.log(`The ${kind} with nonce ${nonce} would be sent again.`);
      } else {
        const next = await adoptNonce(ctx, account);
        console.log(`The next nonce of ${address} on ${name} is ${next}.`);
      }
    }
  });
}

/** If the process has no current key, returns every key that has signed on the chain. */
async function listAdoptable(config: Config, db: Db, chain: string): Promise<Hex[]> {
  const log = createLog({ level: 'silent', pretty: false });
  const { registry } = createMetrics();
  const { signerOf, retired } = await openSigners(config, { clock: realClock(), log, registry });
  const current = listSenders(signerOf, chain).map(({ signer }) => signer.address);
  const known = (await listKeyStates(db, chain)).map(({ address }) => address as Hex);
  if (current.length === 0) return known;
  const replaced = retired.map(({ signer }) => signer.address).filter((address) => known.includes(address));
  return [...new Set([...current, ...replaced])];
}

type ReplaceOptions = { nonce?: string; address?: string; 'dry-run'?: boolean; yes?: boolean };

const WAIT_MS = 30_000;

/** The node that holds the key's lease sends the replacement. */
async function runReplace(
  config: Config,
  chain: EvmChain,
  action: ReplacementAction,
  { nonce, address, ...options }: ReplaceOptions,
): Promise<void> {
  if (nonce !== undefined && !/^\d{1,18}$/.test(nonce)) throw new UsageError('--nonce must be a number');
  const choice = {
    action,
    ...(nonce !== undefined && { nonce: BigInt(nonce) }),
    ...(address !== undefined && { address: address.toLowerCase() }),
  };
  await runCommand(config, async ({ db }) => {
    const plan = await planReplacement(db, chain, feeLimits(config, chain.name), choice);
    const ids = await listIdsOf(db, plan.id);
    console.log(JSON.stringify({ ...plan, participation_ids: ids }, null, 2));
    if (plan.new_max_fee_wei === null)
      throw new UsageError('the replacement would exceed the fee caps; raise OPERATOR_MAX_FEE_GWEI or wait');
    if (options['dry-run'] === true) return rehearse(db, (tx) => requestReplacement(tx, plan));
    if (options.yes !== true && !(await confirm()))
      throw new UsageError('Not confirmed, so nothing was requested. Use --yes to skip the confirmation.');
    await requestReplacement(db, plan);
    await wakeSettlement(db, chain.name);
    const result = await awaitReplacement(db, plan, plan.is_attended ? WAIT_MS : 0);
    if (result.outcome === 'refused') throw new UsageError(`not replaced: ${result.message}`);
    console.log(
      {
        replaced: 'Replaced. Either the original or the replacement may be mined; settlement follows both.',
        mined: 'The transaction was mined first, so nothing was replaced.',
        waiting:
          "Requested. No node has carried out the request yet; the next node that holds the key's lease will.",
      }[result.outcome] + (result.outcome === 'replaced' ? ` New transaction: ${result.hash}` : ''),
    );
  });
}
