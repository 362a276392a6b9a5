import { stringToHex } from 'viem/utils';
import { encodeBase58 } from '../base58.ts';
import type { Causeway } from '../client.ts';
import type { Chain } from '../wire.ts';
import { askOwner, orAbort, type Session } from './session.ts';
import type { SolanaWallet } from './wallet.ts';

export type SignInText = { domain: string; uri: string; statement: string };

/** A text of the service that proves, once signed, whose wallet it is; good for one use. */
export async function askForText(
  causeway: Causeway,
  { address, chain, siwe }: { address: string; chain: Chain; siwe?: SignInText | undefined },
  signal: AbortSignal | undefined,
): Promise<string> {
  const { message } = await causeway.wallets.challenge(
    { wallet_address: address, chain, ...(siwe !== undefined && { challenge_type: 'siwe', ...siwe }) },
    { signal },
  );
  return message;
}

export async function signEvmText(session: Session, text: string): Promise<string> {
  // As hexadecimal: wallets would take a text that looks like it for bytes.
  return String(await askOwner(session, 'personal_sign', [stringToHex(text), session.address]));
}

export async function signSolanaText(
  wallet: SolanaWallet,
  text: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  return encodeBase58(await orAbort(signal, wallet.signMessage(new TextEncoder().encode(text))));
}
