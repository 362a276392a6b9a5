import { getAddress } from 'viem/utils';
import { type ChainName, chainFacts } from '../chain/chains.ts';

/** What every challenge tells, whatever its form. */
export type MessageFacts = {
  /** As it is kept. */
  address: string;
  chain: ChainName;
  partner: string;
  nonce: string;
  issuedAt: string;
  expiresAt: string;
};

/** Who asks, as wallets compare it with the page. */
export type SiweFields = { domain: string; uri: string; statement: string };

const NAMES = { ethereum: 'Ethereum', solana: 'Solana' } as const;

/** EIP-155 for EVM chains; the name of the cluster for Solana, as its sign-in standard has it. */
function chainId(chain: ChainName): string {
  return String(chainFacts(chain).chainId ?? chain.split('_').at(-1));
}

/** ERC-4361, and with `Solana` for `Ethereum` what Sign-In-With-Solana builds; no line but these, in this order. */
export function signInMessage(facts: MessageFacts, { domain, uri, statement }: SiweFields): string {
  const { protocol } = chainFacts(facts.chain);
  const address = protocol === 'ethereum' ? getAddress(facts.address) : facts.address;
  return [
    `${domain} wants you to sign in with your ${NAMES[protocol]} account:`,
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

export function plainMessage(facts: MessageFacts): string {
  return [
    `${facts.partner} asks you to prove that you own this wallet.`,
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

/** The partner's name in plain ASCII on one line: hardware wallets show nothing else. */
export function asciiName(name: string, fallback: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]/g, '')
    .trim();
  return plain === '' ? fallback : plain;
}
