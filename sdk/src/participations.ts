import { encodeFilters, type Filter } from './filters.ts';
import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type { Operations, Participation } from './wire.ts';

export type NewParticipation = Operations['createParticipation']['body'];

export type ParticipationFilter = Filter<
  'offer_id' | 'offer_option_id' | 'user_id' | 'status' | 'user_email'
>;

export type ParticipationInclude = { include?: 'transactions' | undefined };

export type Participations = {
  /** Records a participation. Repeating the same request returns the same participation. */
  create(body: NewParticipation, options?: RequestOptions): Promise<Participation>;
  /** `include: 'transactions'` adds the hash and the block explorer URL of each transaction. */
  list(
    query?: PageQuery & ParticipationInclude & { filters?: readonly ParticipationFilter[] | undefined },
    options?: RequestOptions,
  ): Pages<Participation>;
  /** Takes `include` like `list`. */
  get(id: string, options?: RequestOptions & ParticipationInclude): Promise<Participation>;
};

export function participationsOf(send: Send): Participations {
  const path = '/v1/participations';
  return {
    create: (body, options) => send({ method: 'POST', path, body }, options),
    list: ({ filters = [], ...page } = {}, options) =>
      listPages(page, (pageQuery) =>
        send({ method: 'GET', path, query: { ...pageQuery, ...encodeFilters(filters) } }, options),
      ),
    get: (id, { include, ...options } = {}) =>
      send({ method: 'GET', path: `${path}/${encodeURIComponent(id)}`, query: { include } }, options),
  };
}
