import { ignoreErrors } from './ignore-errors.ts';
import { requestChallenge, signEvmMessage } from './proof.ts';
import type { Session, WalletSession } from './session.ts';

/** `ensureWalletProven` for an EVM wallet. */
export function ensureProven(
  session: Session,
  offerId: string,
  optionId: string,
  onProving: () => void,
): Promise<void> {
  return ensureWalletProven(session, { offerId, optionId }, onProving, (message) =>
    signEvmMessage(session, message),
  );
}

/**
 * Makes sure that the user has proven ownership of the wallet, as every investment requires. If the service still needs
 * a proof, calls `onProving` and asks the owner to sign a message. Sends no transaction.
 */
export async function ensureWalletProven(
  session: WalletSession,
  { offerId, optionId }: { offerId: string; optionId: string },
  onProving: () => void,
  sign: (message: string) => Promise<string>,
): Promise<void> {
  if (await isProven(session, offerId, optionId)) return;
  const { causeway, chain, address, signal } = session;
  onProving();
  const message = await requestChallenge(causeway, session, signal);
  const signature = await sign(message);
  const proof = { chain, offer_option_id: optionId, signature, wallet_address: address };
  // The service checks the proof first and the option's wallet limit second, so `max_wallets_reached` means that the
  // service has accepted the proof.
  await ignoreErrors(causeway.wallets.bind(offerId, proof, { signal }), 'max_wallets_reached');
}

/**
 * Returns true if the service requires no proof from this wallet. Also returns true if the access token's scope does
 * not permit this check, because the service checks again later.
 */
async function isProven(
  { causeway, chain, address, signal }: WalletSession,
  offerId: string,
  optionId: string,
): Promise<boolean> {
  const checked = causeway.offers.eligibility(offerId, { chain, walletAddress: address }, { signal });
  const found = await ignoreErrors(checked, 'insufficient_scope');
  const option = found?.options.find(({ offer_option_id }) => offer_option_id === optionId);
  return option?.checks.find(({ code }) => code === 'wallet_proof')?.status !== 'action_needed';
}
