import { parseArgs } from 'node:util';
import type { EvmChain } from '../chain/evm/client.ts';
import { type Chains, openChains } from '../chain/open-chains.ts';
import { realClock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import { createLog } from '../log.ts';
import { type CommandHelp, UsageError } from '../operations/command.ts';
import { runCommand } from '../operations/run-command.ts';
import { feeLimits } from '../operator/account.ts';
import { NotDeepEnough } from '../operator/adopt.ts';
import { openOperatorKey } from '../operator/key.ts';
import { readNonces, readOperatorStatus } from '../operator/status.ts';
import { adoptNonce, NotReconciled } from './adopt.ts';
import { runReconcile } from './reconcile-command.ts';

export const OPERATOR_HELP: CommandHelp = {
  usage: [
    'operator status',
    'operator nonces CHAIN',
    'operator adopt CHAIN',
    'operator reconcile CHAIN [--from-block N] [--dry-run] [--yes]',
    'operator reconcile CHAIN --report [--from-block N] [--write FILE]',
  ],
  description:
    "status prints, for every configured chain, the operator key's balance, its nonce on chain, the next nonce the service will use, and the number of open transactions. nonces prints every key that has signed on a chain, with its nonces, its lease and its open transactions. reconcile compares the commits and refunds in the final blocks of a chain with the database, prints a plan and writes it after confirmation: it adopts transactions of the operator's keys that the database has lost, for example in a restore, and pauses the offers with any other difference. With --report it prints the totals and differences of every fund as JSON, signed with the operator key if there is one, exits with 1 on any difference and changes nothing. adopt resumes settlement after another program has used the key: it continues from the chain's nonce once the foreign transactions are final and reconciled.",
  options: {
    '--from-block N': 'The first block to compare. Default: shortly before the last known transaction.',
    '--dry-run': 'Only print the plan.',
    '--report': 'Print a report instead of a plan, from the first block on by default.',
    '--write FILE': 'Write the report to FILE instead of standard output.',
    '--yes': 'Write the plan without asking for confirmation.',
  },
  examples: {
    'operator status': 'Check the balance and the nonces',
    'operator reconcile ethereum_mainnet --dry-run': 'Compare the funds with the database',
    'operator adopt ethereum_mainnet': 'Continue after a transaction was sent by hand',
  },
};

const options = {
  'from-block': { type: 'string' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean' },
  report: { type: 'boolean' },
  write: { type: 'string' },
} as const;

export async function runOperator(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [name = '', chain, ...more] = positionals;
  if (!['status', 'nonces', 'adopt', 'reconcile'].includes(name))
    throw new UsageError('operator requires one of the commands status, nonces, adopt and reconcile');
  if (name !== 'reconcile' && Object.keys(values).length > 0)
    throw new UsageError(`operator ${name} takes no options`);
  if (name === 'status' && chain !== undefined) throw new UsageError('operator status takes no arguments');
  if (name !== 'status' && (chain === undefined || more.length > 0))
    throw new UsageError(`operator ${name} requires one chain, such as ethereum_mainnet`);
  const chains = openChains({ urls: config.rpcUrls, freshnessMs: config.rpcFreshnessMs });
  try {
    if (name === 'reconcile') await runReconcile(config, openEvm(chains, chain), values);
    else if (name === 'nonces') await showNonces(config, openEvm(chains, chain));
    else await runWithKey(config, chains, chain);
  } catch (error) {
    if (!(error instanceof NotDeepEnough || error instanceof NotReconciled)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    await chains.close();
  }
}

/** Throws `UsageError` if the chain is not an EVM chain with an RPC URL. */
function openEvm(chains: Chains, name = ''): EvmChain {
  const found = chains.all().find((chain) => chain.name === name);
  if (found === undefined) throw new UsageError(`${name} is not an EVM chain with an RPC URL`);
  return found;
}

async function showNonces(config: Config, chain: EvmChain): Promise<void> {
  await runCommand(config, async ({ db }) => {
    for (const key of await readNonces(db, chain)) console.log(JSON.stringify(key, null, 2));
  });
}

/** Prints the status of every chain, or adopts the nonce of one. */
async function runWithKey(config: Config, chains: Chains, chain: string | undefined): Promise<void> {
  if (config.operatorKey === null)
    throw new ConfigError([
      'OPERATOR_KEY: is required by operator; set OPERATOR_KEY, OPERATOR_KEY_FILE or OPERATOR_KMS_KEY',
    ]);
  const signer = await openOperatorKey(config.operatorKey, realClock());
  const log = createLog({ level: 'silent', pretty: false });
  await runCommand(config, async (ctx) => {
    const parts = { ...ctx, log, signer };
    if (chain !== undefined) {
      const account = { ...parts, ...feeLimits(config, chain), chain: chains.evm(chain) };
      const next = await adoptNonce(ctx, account);
      console.log(`The next nonce of ${signer.address} on ${chain} is ${next}.`);
      return;
    }
    for (const each of chains.all()) {
      const status = await readOperatorStatus({ ...parts, ...feeLimits(config, each.name), chain: each });
      console.log(JSON.stringify(status, null, 2));
    }
  });
}
