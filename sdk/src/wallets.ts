import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type { Operations, OptionAddress, WalletOwnershipChallenge } from './wire.ts';

export type NewChallenge = Operations['createWalletOwnershipChallenge']['body'];
export type WalletProof = Operations['connectWallet']['body'];
export type WalletToAllow = Operations['allowWallet']['body'];
/** The transaction for the wallet to broadcast, or `{}` if the wallet is already allowed. */
export type WalletAllowance = Operations['allowWallet']['reply'];

export type Wallets = {
  /**
   * Issues a message for the wallet to sign. The message can be used once, within ten minutes. On Solana, it names the
   * page that sends the request. On a server or in a native app, pass the page's `origin`.
   */
  challenge(
    body: NewChallenge,
    options?: RequestOptions & { origin?: string | undefined },
  ): Promise<WalletOwnershipChallenge>;
  /** Connects a wallet to an offer option, given a signature that proves ownership. */
  bind(offerId: string, body: WalletProof, options?: RequestOptions): Promise<OptionAddress>;
  list(
    offerId: string,
    query?: PageQuery & { offer_option_id?: string | undefined },
    options?: RequestOptions,
  ): Pages<OptionAddress>;
  /** Removes a wallet and returns its former binding. */
  remove(offerId: string, id: string, options?: RequestOptions): Promise<OptionAddress>;
  /** Allows a wallet to use a swap offer, given a signature that proves ownership. */
  allow(offerId: string, body: WalletToAllow, options?: RequestOptions): Promise<WalletAllowance>;
};

export function walletsOf(send: Send): Wallets {
  const offer = (id: string) => `/v1/offers/${encodeURIComponent(id)}`;
  return {
    challenge: (body, { origin, ...options } = {}) =>
      send({ method: 'POST', path: '/v1/wallet-ownership', body, origin }, options),
    bind: (offerId, body, options) =>
      send({ method: 'POST', path: `${offer(offerId)}/addresses`, body }, options),
    list: (offerId, query = {}, options) =>
      listPages(query, (pageQuery) =>
        send({ method: 'GET', path: `${offer(offerId)}/addresses`, query: pageQuery }, options),
      ),
    remove: (offerId, id, options) =>
      send({ method: 'DELETE', path: `${offer(offerId)}/addresses/${encodeURIComponent(id)}` }, options),
    allow: (offerId, body, options) =>
      send({ method: 'POST', path: `${offer(offerId)}/allow-wallet`, body }, options),
  };
}
