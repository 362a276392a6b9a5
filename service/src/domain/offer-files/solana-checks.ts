import { ApiError } from '../../kernel/errors.ts';
import { associatedAccount } from '../../platform/chain/solana/addresses.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import { readAccounts } from '../../platform/chain/solana/reads.ts';
import {
  type AccountInfo,
  readMint,
  readMultisig,
  readTokenAccount,
  type TokenAccount,
} from '../../platform/chain/solana/token-accounts.ts';
import type { OfferFile } from './file-schema.ts';

type Contract = OfferFile['contracts'][number];

/** `operators` sign commits and refunds. If it is empty, they are not checked. */
type SolanaCheckParts = { digits: ReadonlyMap<string, number>; operators: readonly string[] };

/** `problems` prevent an offer from being applied; `warnings` do not. */
type SolanaFindings = { problems: string[]; warnings: string[] };

export async function checkSolanaContract(
  parts: SolanaCheckParts,
  chain: SolanaChain,
  contract: Contract,
): Promise<SolanaFindings> {
  const [token] = contract.funding_tokens;
  if (token === undefined || contract.vault === null) return { problems: [], warnings: [] };
  const addresses = [token.address, contract.vault, contract.address];
  const [mint = null, vault = null, fund = null] = await readAccounts(chain, addresses, {
    commitment: 'confirmed',
  }).catch((error: unknown) => {
    if (error instanceof ApiError) return [error];
    throw error;
  });
  if (mint instanceof ApiError) return { problems: [`address: ${mint.message}`], warnings: [] };
  const account = readTokenAccount(vault as AccountInfo | null);
  return {
    problems: [
      ...checkMint(parts, token, mint as AccountInfo | null),
      ...checkVault(contract, token.address, account),
      ...checkFund(parts, fund as AccountInfo | null),
    ],
    warnings: checkRefunds(contract, account),
  };
}

function checkMint(
  { digits }: SolanaCheckParts,
  { asset }: Contract['funding_tokens'][number],
  account: AccountInfo | null,
): string[] {
  const at = `funding_tokens.${asset}`;
  const mint = readMint(account);
  if (mint === null)
    return [`${at}: is not a mint of the classic token program; Token-2022 tokens are not supported`];
  const expected = digits.get(asset);
  if (mint.decimals === expected) return [];
  return [`${at}: the mint has ${mint.decimals} decimals, but ${asset} has ${expected} fractional digits`];
}

function checkVault({ vault, address }: Contract, mint: string, account: TokenAccount | null): string[] {
  if (account === null)
    return ['vault: is not a token account; use the associated token account of a cold wallet'];
  if (account.mint !== mint) return [`vault: holds the token ${account.mint}, not ${mint}`];
  const problems: string[] = [];
  if (associatedAccount(account.owner, mint) !== vault)
    problems.push(`vault: is not the associated account of its owner ${account.owner}`);
  if (account.owner === address)
    problems.push('vault: belongs to the fund, but must belong to a cold wallet');
  if (account.isFrozen) problems.push('vault: is frozen');
  return problems;
}

function checkFund({ operators }: SolanaCheckParts, account: AccountInfo | null): string[] {
  const fund = readMultisig(account);
  if (fund === null)
    return [
      'address: is not a multisig account of the token program; create one with "causeway solana fund create"',
    ];
  const missing = operators.filter((operator) => !fund.signers.includes(operator));
  if (missing.length > 0)
    return missing.map(
      (operator) => `address: the operator ${operator} is not one of the signers ${fund.signers.join(', ')}`,
    );
  return operators.length === 0 || fund.required === 1
    ? []
    : [`address: requires ${fund.required} signers, but the operator signs alone`];
}

function checkRefunds({ address }: Contract, vault: TokenAccount | null): string[] {
  if (vault === null || (vault.delegate === address && vault.delegatedAmount > 0n)) return [];
  return ['vault: has no refund allowance, so refunds will wait until its owner approves the fund'];
}
