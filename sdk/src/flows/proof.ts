import { stringToHex } from 'viem/utils';
import { encodeBase58 } from '../base58.ts';
import type { Causeway } from '../client.ts';
import type { Chain } from '../wire.ts';
import { abortable, promptOwner, type Session } from './session.ts';
import type { SolanaWallet } from './wallet.ts';

/**
 * The fields of an ERC-4361 message that the app chooses. `domain` and `uri` must be registered for the partner; the
 * optional `statement` follows the service's own sentence.
 */
export type SiweFields = { domain: string; uri: string; statement?: string };

/** Returns the service's challenge: a message that proves ownership of the wallet once signed. Valid for one use. */
export async function requestChallenge(
  causeway: Causeway,
  { address, chain, siwe }: { address: string; chain: Chain; siwe?: SiweFields | undefined },
  signal: AbortSignal | undefined,
): Promise<string> {
  const { message } = await causeway.wallets.challenge(
    { wallet_address: address, chain, ...(siwe !== undefined && { challenge_type: 'siwe', ...siwe }) },
    { signal },
  );
  return message;
}

export async function signEvmMessage(session: Session, message: string): Promise<string> {
  // Sends the message as hex, because wallets would interpret a text that looks like hex as bytes.
  return String(await promptOwner(session, 'personal_sign', [stringToHex(message), session.address]));
}

export async function signSolanaMessage(
  wallet: SolanaWallet,
  message: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  return encodeBase58(await abortable(signal, wallet.signMessage(new TextEncoder().encode(message))));
}
