import { parseArgs } from 'node:util';
import { recordPaidRefund } from '../../domain/settlement/paid-refund.ts';
import { createFund, findFund } from '../../domain/settlement/solana-fund.ts';
import { compareVaults } from '../../domain/settlement/solana-vaults.ts';
import { SOLANA_CHAIN_NAMES } from '../../kernel/chains.ts';
import { realClock } from '../../kernel/clock.ts';
import { type Config, ConfigError } from '../../kernel/config/config.ts';
import { SENDING_ROLES } from '../../kernel/config/role.ts';
import { UsageError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { plural } from '../../kernel/plural.ts';
import { decodeBase58 } from '../../platform/chain/address.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import { listKeyStates } from '../../platform/operator/key-state-store.ts';
import { type Closing, closeReceipts, planClosing } from '../../platform/operator/receipt-close.ts';
import { findRemoteAddress, listSenders } from '../../platform/operator/signers.ts';
import type { SolanaSigner } from '../../platform/operator/solana-signer.ts';
import { openSolanaSigners } from '../../platform/operator/solana-signers.ts';
import { adoptForeignTransactions, type ForeignTransaction } from '../../platform/operator/watch-store.ts';
import type { CommandHelp } from './command.ts';
import { runCommand, withChains } from './run-command.ts';

export const help: CommandHelp = {
  usage: [
    'solana fund create SLUG --standby ADDRESS [--commit ADDRESS] [--refund ADDRESS] [--chain solana_mainnet|solana_devnet] [--dry-run]',
    'solana adopt CHAIN [--dry-run]',
    'solana refunded CHAIN PARTICIPATION SIGNATURE [--dry-run]',
    'solana close CHAIN [--dry-run]',
    'solana vaults CHAIN',
  ],
  description: 'Manages funds and receipts on Solana.',
  commands: {
    'fund create':
      'Creates an offer\'s fund account and prints its address, which is the "address" in the offer file. The account is a multisig for which each of the operator\'s keys and the standby key can sign alone. Its signers never change, so choose the keys of both roles first, and keep the standby key offline and safe. The commit key pays the rent. If you run the command again, it prints the same address.',
    adopt:
      'Lets settlement continue after the alert foreign_transaction, which reports transactions that were signed with a fund\'s keys but not sent by this service. Find out first who signed these transactions. Prints what it adopts. The service then settles the participations that these transactions name, except those whose receipts show that they are settled. What somebody has paid by hand would therefore be paid again: run "refunded" first for each refund.',
    refunded:
      'Records that a foreign transaction (one that this service did not send) has paid the refund of a participation, so that the service does not pay the refund again. The transaction must be finalized, be newer than the commit of the participation, and move exactly the amount of the participation from the vault of the participation to the associated token account of its wallet. A payment from another account cannot be recorded.',
    close:
      'Closes the receipts of participations that were settled more than SOLANA_RECEIPT_DAYS days ago, and returns the rent of each receipt to the key that created the receipt. Afterwards, do not restore a backup that is older than SOLANA_RECEIPT_DAYS days.',
    vaults:
      'Compares the balance of every vault with what participations have paid, and prints what others, such as the owner of the vault, have moved.',
  },
  options: {
    '--standby ADDRESS': "The key that can sign for the fund if one of the operator's keys is lost.",
    '--commit ADDRESS': 'The commit key, if this process does not have it. Then only --dry-run works.',
    '--refund ADDRESS': 'The refund key, if this process does not have it.',
    '--chain CHAIN': 'The cluster for the fund, solana_mainnet or solana_devnet. Default: solana_mainnet.',
    '--dry-run': 'Only print what would happen, without signing, sending or changing anything.',
  },
  examples: {
    'solana fund create harbour-quarter --standby 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin':
      'Create the fund for an offer on mainnet',
    'solana adopt solana_mainnet': 'Continue after the standby key was used by hand',
    'solana refunded solana_mainnet 01890000-0000-7000-8000-000000000001 SIGNATURE':
      'Record a refund that was paid by hand',
    'solana close solana_mainnet': 'Reclaim the rent of old receipts',
  },
};

export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      standby: { type: 'string' },
      commit: { type: 'string' },
      refund: { type: 'string' },
      chain: { type: 'string', default: 'solana_mainnet' },
      'dry-run': { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [noun, verb, slug, ...more] = positionals;
  if (noun === 'refunded') return recordRefunded(config, positionals.slice(1), values['dry-run']);
  const onChain = ON_CHAIN[noun ?? ''];
  if (onChain !== undefined) {
    if (slug !== undefined || !SOLANA_CHAIN_NAMES.some((name) => name === verb))
      throw new UsageError(`solana ${noun} requires one of ${SOLANA_CHAIN_NAMES.join(', ')}`);
    if (values['dry-run'] && onChain.plan === null)
      throw new UsageError(`solana ${noun} does not take --dry-run, because it changes nothing`);
    return (values['dry-run'] && onChain.plan !== null ? onChain.plan : onChain.run)(config, verb ?? '');
  }
  if (noun !== 'fund' || verb !== 'create' || slug === undefined || more.length > 0)
    throw new UsageError(
      'solana requires a command: fund create SLUG, adopt CHAIN, refunded CHAIN PARTICIPATION SIGNATURE, close CHAIN or vaults CHAIN',
    );
  await planOrCreateFund(config, slug, values);
}

type FundOptions = {
  standby?: string | undefined;
  commit?: string | undefined;
  refund?: string | undefined;
  chain: string;
  'dry-run': boolean;
};

async function planOrCreateFund(config: Config, slug: string, options: FundOptions): Promise<void> {
  const { standby } = options;
  if (standby === undefined || decodeBase58(standby, 32) === null)
    throw new UsageError('solana fund create requires --standby, the address of a second key in base58');
  for (const role of SENDING_ROLES) {
    const given = options[role];
    if (given !== undefined && decodeBase58(given, 32) === null)
      throw new UsageError(`--${role} must be the address of the ${role} key in base58`);
  }
  if (!SOLANA_CHAIN_NAMES.some((name) => name === options.chain))
    throw new UsageError(`--chain must be one of ${SOLANA_CHAIN_NAMES.join(', ')}`);
  await withChain(config, options.chain, async (chain) => {
    const signerOf = await openSolanaSigners(config, { clock: realClock() });
    const signer = signerOf('commit', chain.name);
    const [commit, refund] = SENDING_ROLES.map((role) => {
      const configured = signerOf(role, chain.name)?.address ?? findRemoteAddress(config, role, chain.name);
      return options[role] ?? configured ?? addressMissing(role, chain.name);
    }) as [string, string];
    if ([commit, refund].includes(standby))
      throw new UsageError("--standby must differ from the operator's keys");
    const others = [refund, standby].filter((each) => each !== commit);
    if (options['dry-run']) {
      const { fund, isCreated } = await findFund(chain, slug, [commit, ...others]);
      return console.log(isCreated ? `${fund} exists already` : `${fund} would be created`);
    }
    if (signer === null) throw keyMissing('commit', chain.name);
    if (signer.address !== commit)
      throw new UsageError(`--commit must be the address of this process's commit key, ${signer.address}`);
    console.log(await createFund(chain, signer, slug, others));
  });
}

function addressMissing(role: string, chain: string): never {
  throw new UsageError(
    `solana fund create requires --${role}, because this process has no ${role} key on ${chain}`,
  );
}

type Run = (config: Config, chain: string) => Promise<void>;

/** The commands on one chain. `plan` is the dry run; null for commands that change nothing. */
const ON_CHAIN: Readonly<Record<string, { run: Run; plan: Run | null }>> = {
  adopt: {
    run: (config, chain) =>
      runCommand(config, async ({ db }) => {
        const adopted = await adoptForeignTransactions(db, chain);
        for (const each of adopted) console.log(describeAdoption(each, 'was adopted', 'now'));
        console.log(`Adopted ${plural(adopted.length, 'transaction')}.`);
      }),
    plan: (config, chain) =>
      runCommand(config, async ({ db }) => {
        const adopted = await rehearse(db, (tx) => adoptForeignTransactions(tx, chain));
        for (const each of adopted) console.log(describeAdoption(each, 'would be adopted', 'then'));
        console.log(`${plural(adopted.length, 'transaction')} would be adopted.`);
      }),
  },
  close: {
    run: async (config, name) => {
      const senders = await listOwnSenders(config, name);
      if (senders.length === 0) throw keyMissing('commit or refund', name);
      await withChain(config, name, (chain) =>
        runCommand(config, async ({ db }) => {
          const { closed, kept } = await sumClosings(senders, (signer) =>
            closeReceipts({ db, chain, signer }, config.solanaReceiptDays),
          );
          console.log(
            `Closed ${closed} receipts. Kept ${kept} receipts that hold tokens or belong to another key.`,
          );
        }),
      );
    },
    plan: async (config, name) => {
      const senders = await listOwnSenders(config, name);
      await withChain(config, name, (chain) =>
        runCommand(config, async ({ db }) => {
          const keys: { address: string }[] = senders.length > 0 ? senders : await listKeyStates(db, name);
          const { closed, kept } = await sumClosings(keys, ({ address }) =>
            planClosing({ db, chain, address }, config.solanaReceiptDays),
          );
          console.log(
            `${closed} receipts would be closed. ${kept} receipts that hold tokens or belong to another key would be kept.`,
          );
        }),
      );
    },
  },
  vaults: {
    plan: null,
    run: (config, name) =>
      withChain(config, name, (chain) =>
        runCommand(config, async ({ db }) => {
          for (const { vault, balance, settled, moved } of await compareVaults(db, chain))
            console.log(`${vault}: balance ${balance}, settled ${settled}, moved by others ${moved}`);
        }),
      ),
  },
};

async function recordRefunded(config: Config, args: string[], isDryRun: boolean): Promise<void> {
  const [name = '', id = '', signature = '', ...more] = args;
  const isComplete = SOLANA_CHAIN_NAMES.some((each) => each === name) && isId(id) && more.length === 0;
  if (!isComplete || decodeBase58(signature, 64) === null)
    throw new UsageError(
      `solana refunded requires one of ${SOLANA_CHAIN_NAMES.join(', ')}, the id of a participation and the signature of a transaction`,
    );
  await withChain(config, name, (chain) =>
    runCommand(config, async (ctx) => {
      if (isDryRun) await rehearse(ctx.db, (db) => recordPaidRefund({ ...ctx, db }, chain, id, signature));
      else await recordPaidRefund(ctx, chain, id, signature);
      console.log(`${id} ${isDryRun ? 'would become' : 'is now'} remitted`);
    }),
  );
}

function describeAdoption(
  { signature, address, participationId }: ForeignTransaction,
  change: string,
  when: 'now' | 'then',
): string {
  const text = `${signature} from ${address} ${change}`;
  return participationId === null ? text : `${text}; the service ${when} settles ${participationId} itself`;
}

async function listOwnSenders(config: Config, chain: string): Promise<SolanaSigner[]> {
  const signerOf = await openSolanaSigners(config, { clock: realClock() });
  return listSenders(signerOf, chain).map(({ signer }) => signer);
}

async function sumClosings<K>(keys: readonly K[], close: (key: K) => Promise<Closing>): Promise<Closing> {
  const sum = { closed: 0, kept: 0 };
  for (const key of keys) {
    const { closed, kept } = await close(key);
    sum.closed += closed;
    sum.kept += kept;
  }
  return sum;
}

function keyMissing(role: string, chain: string): ConfigError {
  return new ConfigError([
    `SOLANA_OPERATOR_KEY: is required by "causeway solana"; set SOLANA_OPERATOR_KEY, SOLANA_OPERATOR_KEY_FILE or SOLANA_OPERATOR_KMS_KEY, or add a ${role} key for ${chain} to OPERATOR_KEYS_FILE`,
  ]);
}

function withChain(config: Config, name: string, work: (chain: SolanaChain) => Promise<void>): Promise<void> {
  return withChains(config, async (chains) => {
    const chain = chains.allSolana().find((each) => each.name === name);
    if (chain === undefined)
      throw new UsageError(`${name} has no RPC URL; set RPC_URL_${name.toUpperCase()}`);
    await work(chain);
  });
}
