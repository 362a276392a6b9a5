import { stringToHex } from 'viem/utils';
import { CHAINS } from '../chains.ts';
import type { Causeway } from '../client.ts';
import { abortable } from '../sleep.ts';
import type { Chain } from '../wire.ts';
import { FlowFailure } from './flow.ts';
import { promptOwner, type Session } from './session.ts';
import type { SolanaWallet } from './wallet.ts';

/** Matches the opening sentence of a sign-in message anywhere in a text. */
const SIGN_IN = /wants you to sign in with your/i;

/**
 * The fields that the app chooses for an ERC-4361 message. `domain` and `uri` must be registered for the partner. In
 * the message, the optional `statement` follows the service's own sentence.
 */
export type SiweFields = { domain: string; uri: string; statement?: string };

type ChallengeRequest = { address: string; chain: Chain; siwe?: SiweFields | undefined };

/** Returns the service's challenge: a single-use message that, once signed, proves ownership of the wallet. */
export async function requestChallenge(
  causeway: Causeway,
  request: ChallengeRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { address, chain, siwe } = request;
  const { message } = await causeway.wallets.challenge(
    { wallet_address: address, chain, ...(siwe !== undefined && { challenge_type: 'siwe', ...siwe }) },
    { signal },
  );
  if (!isProofOf(message, request))
    throw new FlowFailure(
      'message_refused',
      'The message is not a proof of ownership for this wallet, so you were not asked to sign it.',
      { details: { message } },
    );
  return message;
}

/**
 * Returns whether a message is safe to sign: it is plain text, contains this wallet's address, and does not sign the
 * user in to another site. On EVM chains, a sign-in message (ERC-4361) is safe only if `siwe` requested it, with the
 * same domain and URI. On Solana, every challenge is a sign-in message, and the wallet itself compares the message's
 * domain with the page's.
 */
function isProofOf(message: string, { address, chain, siwe }: ChallengeRequest): boolean {
  const lines = message.split('\n');
  const isText = lines.every((line) => [...line].every((character) => character >= ' '));
  if (!isText || !message.toLowerCase().includes(address.toLowerCase())) return false;
  if (CHAINS[chain].protocol === 'solana') return message.includes(address);
  if (siwe === undefined) return !SIGN_IN.test(message);
  const { domain, uri } = siwe;
  return (
    lines[0] === `${domain} wants you to sign in with your Ethereum account:` && lines.includes(`URI: ${uri}`)
  );
}

export async function signEvmMessage(session: Session, message: string): Promise<string> {
  // Sends the message as hex, because a wallet would decode a plain message that happens to look like hex.
  return String(await promptOwner(session, 'personal_sign', [stringToHex(message), session.address]));
}

export async function signSolanaMessage(
  wallet: SolanaWallet,
  message: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { encodeBase58 } = await import('../base58.ts');
  return encodeBase58(await abortable(signal, wallet.signMessage(new TextEncoder().encode(message))));
}
