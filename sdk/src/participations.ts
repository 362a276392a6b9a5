import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type { Operations, Participation } from './wire.ts';

export type NewParticipation = Operations['createParticipation']['body'];

export type ParticipationFilter = {
  field: 'offer_id' | 'offer_option_id' | 'user_id' | 'status' | 'user_email';
  op: '==' | '!=' | 'in';
  /** An array with `in`. */
  value: string | readonly string[];
};

export type Participations = {
  /** Records a participation. Repeating the same request returns the same participation. */
  create(body: NewParticipation, options?: RequestOptions): Promise<Participation>;
  list(
    query?: PageQuery & { filters?: readonly ParticipationFilter[] | undefined },
    options?: RequestOptions,
  ): Pages<Participation>;
  get(id: string, options?: RequestOptions): Promise<Participation>;
};

export function participationsOf(send: Send): Participations {
  const path = '/v1/participations';
  return {
    create: (body, options) => send({ method: 'POST', path, body }, options),
    list: ({ filters = [], ...page } = {}, options) =>
      listPages(page, (pageQuery) =>
        send({ method: 'GET', path, query: { ...pageQuery, ...encodeFilters(filters) } }, options),
      ),
    get: (id, options) => send({ method: 'GET', path: `${path}/${encodeURIComponent(id)}` }, options),
  };
}

/** Encodes filters as `filters[0][field]=…` and so on. */
function encodeFilters(filters: readonly ParticipationFilter[]): Record<string, string> {
  return Object.fromEntries(
    filters.flatMap(({ field, op, value }, index) => [
      [`filters[${index}][field]`, field],
      [`filters[${index}][op]`, op],
      [`filters[${index}][value]`, typeof value === 'string' ? value : value.join(',')],
    ]),
  );
}
