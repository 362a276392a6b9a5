import Type, { type Static, type TSchema } from 'typebox';
import { invalidField } from './errors.ts';
import type { Sealing } from './sealing.ts';
import { Closed, ObjectName } from './wire.ts';

const TAG_BYTES = 16;
const DEFAULT_LIMIT = 20;

export const PageQuery = Type.Object({
  starting_after: Type.Optional(
    Type.String({ maxLength: 512, description: 'Cursor of the next page, from a previous reply.' }),
  ),
  starting_before: Type.Optional(
    Type.String({ maxLength: 512, description: 'Cursor of the previous page, from a previous reply.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_LIMIT })),
});
export type PageQuery = Static<typeof PageQuery>;

/**
 * The schema of a page of `item`. The first page has no `starting_before`, and the last page has no `starting_after`.
 */
export function List<T extends TSchema>(item: T, title: string) {
  return Closed(
    {
      object: ObjectName('list'),
      data: Type.Array(item),
      starting_after: Type.Optional(Type.String()),
      starting_before: Type.Optional(Type.String()),
    },
    { title },
  );
}

/** The position of a row in a list. Lists are ordered by (inserted_at, id), newest first. */
export type Position = { inserted_at: string; id: string };

/** The input for reading one page: at most `limit` rows beyond `position` in `direction`. */
export type Keyset = { direction: 'older' | 'newer'; position: Position | null; limit: number };

type Page<Row> = { object: 'list'; data: Row[]; starting_after?: string; starting_before?: string };

/**
 * Reads one page. `list` identifies the list, including its caller and filters. A cursor is valid only for the list
 * that it came from.
 */
export async function readPage<Row extends Position>(
  sealing: Sealing,
  list: string,
  query: PageQuery,
  load: (keyset: Keyset) => Promise<Row[]>,
): Promise<Page<Row>> {
  const { limit = DEFAULT_LIMIT } = query;
  // An empty cursor counts as absent.
  const after = query.starting_after || undefined;
  const before = query.starting_before || undefined;
  if (after !== undefined && before !== undefined) {
    throw invalidField('starting_before', 'cannot be combined with starting_after');
  }
  const direction = before === undefined ? 'older' : 'newer';
  const field = before === undefined ? 'starting_after' : 'starting_before';
  const cursor = before ?? after;
  const position = cursor === undefined ? null : readCursor(sealing, list, field, cursor);

  const rows = await load({ direction, position, limit: limit + 1 });
  const hasMore = rows.length > limit;
  const data = rows.slice(0, limit);
  if (direction === 'newer') data.reverse();

  const page: Page<Row> = { object: 'list', data };
  const first = data[0];
  const last = data.at(-1);
  if (last !== undefined && (direction === 'newer' || hasMore))
    page.starting_after = writeCursor(sealing, list, last);
  if (first !== undefined && (direction === 'newer' ? hasMore : cursor !== undefined)) {
    page.starting_before = writeCursor(sealing, list, first);
  }
  return page;
}

function writeCursor(sealing: Sealing, list: string, { inserted_at, id }: Position): string {
  const body = `${inserted_at}|${id}`;
  const tag = sealing.tag('cursor', `${list}|${body}`).subarray(0, TAG_BYTES);
  return Buffer.concat([tag, Buffer.from(body)]).toString('base64url');
}

function readCursor(sealing: Sealing, list: string, field: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const body = bytes.subarray(TAG_BYTES).toString();
  const [inserted_at, id] = body.split('|');
  // Base64 decoding ignores invalid characters, so the first condition checks that the cursor is the exact encoding of
  // `bytes`.
  const isGenuine =
    bytes.toString('base64url') === cursor &&
    sealing.verifyTag('cursor', `${list}|${body}`, bytes.subarray(0, TAG_BYTES));
  if (!isGenuine || inserted_at === undefined || id === undefined)
    throw invalidField(field, 'is not a valid cursor for this list');
  return { inserted_at, id };
}
