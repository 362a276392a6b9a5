import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { encodeMessage } from '@causeway/contracts/encodings/solana-message.ts';
import { decodeBase58 } from '../chain/address.ts';
import { SOLANA_CHAIN_NAMES } from '../chain/chains.ts';
import { openChains } from '../chain/open-chains.ts';
import { deriveWithSeed, fundSeed, keyOf, TOKEN_PROGRAM } from '../chain/solana/addresses.ts';
import type { SolanaChain } from '../chain/solana/client.ts';
import { allocateWithSeed, initializeMultisig, transferLamports } from '../chain/solana/instructions.ts';
import { readAccounts, readBlockhash, readEpoch, readRent } from '../chain/solana/reads.ts';
import { sendTransaction } from '../chain/solana/send.ts';
import { MULTISIG_BYTES, readMultisig } from '../chain/solana/token-accounts.ts';
import { realClock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import { type CommandHelp, UsageError } from '../operations/command.ts';
import { runCommand } from '../operations/run-command.ts';
import { adoptForeignTransactions } from '../operator/foreign-transactions.ts';
import { openSolanaSigner, type SolanaSigner } from '../operator/solana-signer.ts';

export const SOLANA_HELP: CommandHelp = {
  usage: [
    'solana fund create SLUG --standby ADDRESS [--chain solana_mainnet|solana_devnet]',
    'solana adopt CHAIN',
  ],
  description:
    "fund create creates the fund account of an offer on Solana and prints its address, the `address` in the offer file: a multisig account of which the operator or a standby key alone can sign. Its signers never change, so keep the standby key offline and safe. The operator's key pays the rent. Running the command again prints the same address. adopt lets settlement continue after transactions at the funds that this service did not send (the alert foreign_transaction): find out first who signed them.",
  examples: {
    'solana fund create harbour-quarter --standby 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin':
      'Create the fund of an offer on the main net',
    'solana adopt solana_mainnet': 'Continue after the standby key was used by hand',
  },
};

const POLL_INTERVAL_MS = 1_000;

export async function runSolana(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { standby: { type: 'string' }, chain: { type: 'string', default: 'solana_mainnet' } },
    allowPositionals: true,
  });
  const [noun, verb, slug, ...more] = positionals;
  if (noun === 'adopt') return runAdopt(config, verb, slug);
  if (noun !== 'fund' || verb !== 'create' || slug === undefined || more.length > 0)
    throw new UsageError('solana requires one of the commands fund create SLUG and adopt CHAIN');
  const { standby } = values;
  if (standby === undefined || decodeBase58(standby, 32) === null)
    throw new UsageError('solana fund create requires --standby, the address of a second key in base58');
  if (!SOLANA_CHAIN_NAMES.some((name) => name === values.chain))
    throw new UsageError(`--chain must be one of ${SOLANA_CHAIN_NAMES.join(', ')}`);
  if (config.solanaKey === null)
    throw new ConfigError([
      'SOLANA_OPERATOR_KEY: is required by solana; set SOLANA_OPERATOR_KEY, SOLANA_OPERATOR_KEY_FILE or SOLANA_OPERATOR_KMS_KEY',
    ]);
  const signer = await openSolanaSigner(config.solanaKey, realClock());
  if (standby === signer.address)
    throw new UsageError('--standby must be another key than that of the operator');
  const chains = openChains({ urls: config.rpcUrls });
  try {
    console.log(await createFund(chains.solana(values.chain), signer, slug, standby));
  } finally {
    await chains.close();
  }
}

async function runAdopt(config: Config, chain: string | undefined, more: string | undefined): Promise<void> {
  if (more !== undefined || !SOLANA_CHAIN_NAMES.some((name) => name === chain))
    throw new UsageError(`solana adopt requires one of ${SOLANA_CHAIN_NAMES.join(', ')}`);
  await runCommand(config, async ({ db }) => {
    const count = await adoptForeignTransactions(db, chain ?? '');
    console.log(`Adopted ${count} transaction${count === 1 ? '' : 's'}.`);
  });
}

/** Creates the fund account unless it exists. Returns its address once it is final. */
export async function createFund(
  chain: SolanaChain,
  signer: SolanaSigner,
  slug: string,
  standby: string,
): Promise<string> {
  const seed = fundSeed(slug);
  const fund = deriveWithSeed(signer.address, seed, TOKEN_PROGRAM);
  const signers = [signer.address, standby];
  for (let lastValidHeight: bigint | null = null; ; await sleep(POLL_INTERVAL_MS)) {
    const { slot, height } = await readEpoch(chain);
    const [account = null] = await readAccounts(chain, [fund], { commitment: 'finalized', minSlot: slot });
    const known = readMultisig(account);
    if (known !== null) {
      if (known.required === 1 && signers.every((each) => known.signers.includes(each))) return fund;
      throw new UsageError(`the fund ${fund} exists with other signers: ${known.signers.join(', ')}`);
    }
    if (lastValidHeight === null || height > lastValidHeight)
      lastValidHeight = await sendFund(chain, signer, fund, seed, signers);
  }
}

/** Returns the last block height at which the transaction can land. */
async function sendFund(
  chain: SolanaChain,
  { address, signTransaction }: SolanaSigner,
  fund: string,
  seed: string,
  signers: readonly string[],
): Promise<bigint> {
  const rent = await readRent(chain, MULTISIG_BYTES);
  const { hash, lastValidHeight } = await readBlockhash(chain);
  const instructions = [
    transferLamports(address, fund, rent),
    allocateWithSeed(fund, address, seed, MULTISIG_BYTES),
    initializeMultisig(fund, 1, signers),
  ];
  const message = encodeMessage({ feePayer: keyOf(address), blockhash: keyOf(hash), instructions });
  // An operator asked for exactly this transaction; it moves only the rent of the new account.
  await sendTransaction(chain, await signTransaction(message, () => undefined));
  return lastValidHeight;
}
