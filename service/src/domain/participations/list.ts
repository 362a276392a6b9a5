import type { Caller } from '../../kernel/access.ts';
import { type PageQuery, readPage } from '../../kernel/paging.ts';
import type { Context } from '../../platform/context/context.ts';
import { readFilters } from '../../platform/http/filters.ts';
import type { Query } from '../../platform/http/query-string.ts';
import { addIncluded, readParticipationInclude } from './include.ts';
import { listParticipations } from './list-store.ts';
import { showParticipation } from './participation.ts';
import { FILTERS, readSelection } from './selection.ts';

/**
 * Lists the calling partner's participations: those of the user if the partner acts for one, otherwise those of all
 * users.
 */
export async function readParticipations(ctx: Context, caller: Caller, query: PageQuery, raw: Query) {
  const include = readParticipationInclude(caller, raw);
  const filters = readFilters(raw, FILTERS);
  const selection = readSelection(caller, filters);
  const name = `participations ${caller.partnerId} ${caller.userId} ${JSON.stringify(filters)}`;
  const page = await readPage(ctx.sealing, name, query, (keyset) =>
    listParticipations(ctx.db, caller.partnerId, selection, keyset),
  );
  const data = await addIncluded(ctx, caller, include, page.data.map(showParticipation));
  return { ...page, data };
}
