import { getAddress } from 'viem/utils';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';

/** The facts in every challenge message, plain or SIWE. */
export type MessageFacts = {
  /** Normalized. */
  address: string;
  chain: ChainName;
  partner: string;
  /** The short code of the user's account. */
  account: string;
  nonce: string;
  issuedAt: string;
  expiresAt: string;
};

/** The fields of a sign-in message (ERC-4361) that depend on the requesting page. */
export type SiweFields = { domain: string; uri: string; statement: string };

const PROTOCOL_NAMES = { ethereum: 'Ethereum', solana: 'Solana' } as const;

/** Returns the EIP-155 chain id. On Solana, returns the cluster name that Sign-In-With-Solana uses. */
function chainId(chain: ChainName): string {
  return String(chainFacts(chain).chainId ?? chain.split('_').at(-1));
}

/**
 * Builds an ERC-4361 message, or its Sign-In-With-Solana equivalent. Both standards fix the order of the
 * lines.
 */
export function signInMessage(facts: MessageFacts, { domain, uri, statement }: SiweFields): string {
  const { protocol } = chainFacts(facts.chain);
  const address = protocol === 'ethereum' ? getAddress(facts.address) : facts.address;
  return [
    `${domain} wants you to sign in with your ${PROTOCOL_NAMES[protocol]} account:`,
    address,
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId(facts.chain)}`,
    `Nonce: ${facts.nonce}`,
    `Issued At: ${facts.issuedAt}`,
    `Expiration Time: ${facts.expiresAt}`,
  ].join('\n');
}

/** Returns the sentence that every challenge contains. The sentence names the partner and the account. */
export function openingSentence({ partner, account }: Pick<MessageFacts, 'partner' | 'account'>): string {
  return `${partner} asks you to prove that you own this wallet for account ${account}.`;
}

export function plainMessage(facts: MessageFacts): string {
  return [
    openingSentence(facts),
    '',
    'Signing this text costs nothing and sends no transaction.',
    '',
    `Partner: ${facts.partner}`,
    `Wallet: ${getAddress(facts.address)}`,
    `Chain: ${facts.chain} (${chainId(facts.chain)})`,
    `Nonce: ${facts.nonce}`,
    `Issued At: ${facts.issuedAt}`,
    `Expires At: ${facts.expiresAt}`,
  ].join('\n');
}

/**
 * Returns the partner's name with only the characters that ERC-4361 statements allow. Hardware wallets can
 * display these too.
 */
export function asciiName(name: string, fallback: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]/g, '')
    .trim();
  return plain === '' ? fallback : plain;
}
