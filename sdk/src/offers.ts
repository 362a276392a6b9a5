import { CausewayError } from './error.ts';
import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type { Chain, Eligibility, Offer, OfferDetails } from './wire.ts';

/** The details of a token sale. To narrow `OfferDetails` to this type, check `offer.type`. */
export type TokenSaleOffer = Extract<OfferDetails, { type: 'platform::token_sale' }>;
/** The details of a fund. */
export type FundSwapOffer = Extract<OfferDetails, { type: 'fund::swap' }>;
/** The details of a tokenized asset. */
export type TokenizedOffer = Extract<OfferDetails, { type: 'tokenized::swap' }>;

/** `summary` adds the fields that a card shows: name, asset, chains, state, price, amount raised, target, fee. */
export type OfferInclude = { include?: 'summary' | undefined };

export type Offers = {
  /** Lists the partner's published offers, newest first. */
  list(query?: PageQuery & OfferInclude, options?: RequestOptions): Pages<Offer>;
  /** Returns an offer by id or slug. */
  get(id: string, options?: RequestOptions & OfferInclude): Promise<OfferDetails>;
  /**
   * Explains for each option whether the user could invest now: which checks passed, and what to do about the other
   * checks.
   */
  eligibility(offerId: string, query?: EligibilityQuery, options?: RequestOptions): Promise<Eligibility>;
};

/** The wallet to check. Default: any wallet whose ownership the user has proven, on any of the offer's chains. */
export type EligibilityQuery = { chain?: Chain | undefined; walletAddress?: string | undefined };

export function offersOf(send: Send): Offers {
  return {
    list: (query = {}, options) =>
      listPages(query, (pageQuery) => send({ method: 'GET', path: '/v1/offers', query: pageQuery }, options)),
    get: async (id, { include, ...options } = {}) => {
      const path = `/v1/offers/${encodeURIComponent(id)}`;
      const offer = await send<OfferDetails>({ method: 'GET', path, query: { include } }, options);
      // Rejects any offer other than the requested one, so that a page never sells the wrong offer.
      if ([offer.id, offer.slug].some((known) => known.toLowerCase() === id.toLowerCase())) return offer;
      throw new CausewayError({
        status: 0,
        code: 'unexpected_reply',
        message: 'The service returned an offer other than the requested one.',
      });
    },
    eligibility: (offerId, { chain, walletAddress } = {}, options) => {
      const path = `/v1/offers/${encodeURIComponent(offerId)}/eligibility`;
      const query = {
        ...(chain !== undefined && { chain }),
        ...(walletAddress !== undefined && { wallet_address: walletAddress }),
      };
      return send({ method: 'GET', path, query }, options);
    },
  };
}
