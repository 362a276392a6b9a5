import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type { Operations, OptionAddress, WalletOwnershipChallenge } from './wire.ts';

export type NewChallenge = Operations['createWalletOwnershipChallenge']['body'];
export type WalletProof = Operations['connectWallet']['body'];
export type WalletToAllow = Operations['allowWallet']['body'];
/** `{}` when the wallet is allowed already, else the transaction that the wallet broadcasts. */
export type WalletAllowance = Operations['allowWallet']['reply'];

export type Wallets = {
  /** A text for the wallet to sign, good for one use within ten minutes. */
  challenge(body: NewChallenge, options?: RequestOptions): Promise<WalletOwnershipChallenge>;
  /** Connects a proven wallet to an offer option. */
  bind(offerId: string, body: WalletProof, options?: RequestOptions): Promise<OptionAddress>;
  list(
    offerId: string,
    query?: PageQuery & { offer_option_id?: string | undefined },
    options?: RequestOptions,
  ): Pages<OptionAddress>;
  /** Gives the removed binding. */
  remove(offerId: string, id: string, options?: RequestOptions): Promise<OptionAddress>;
  /** Allows a proven wallet for a swap offer. */
  allow(offerId: string, body: WalletToAllow, options?: RequestOptions): Promise<WalletAllowance>;
};

export function walletsOf(send: Send): Wallets {
  const offer = (id: string) => `/v1/offers/${encodeURIComponent(id)}`;
  return {
    challenge: (body, options) => send({ method: 'POST', path: '/v1/wallet-ownership', body }, options),
    bind: (offerId, body, options) =>
      send({ method: 'POST', path: `${offer(offerId)}/addresses`, body }, options),
    list: (offerId, query = {}, options) =>
      listPages(query, (asked) =>
        send({ method: 'GET', path: `${offer(offerId)}/addresses`, query: asked }, options),
      ),
    remove: (offerId, id, options) =>
      send({ method: 'DELETE', path: `${offer(offerId)}/addresses/${encodeURIComponent(id)}` }, options),
    allow: (offerId, body, options) =>
      send({ method: 'POST', path: `${offer(offerId)}/allow-wallet`, body }, options),
  };
}
