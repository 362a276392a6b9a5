import { stringToHex } from 'viem/utils';
import type { Causeway } from '../client.ts';
import { abortable } from '../sleep.ts';
import type { ChallengeRequest } from './challenge.ts';
import { promptOwner, type Session } from './session.ts';
import type { SolanaWallet } from './wallet.ts';

/** Returns the message that the owner signs to prove the wallet. */
export async function requestChallenge(
  causeway: Causeway,
  request: ChallengeRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  // Imported on demand, because most purchases need no new proof.
  const challenge = await import('./challenge.ts');
  return challenge.requestChallenge(causeway, request, signal);
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
