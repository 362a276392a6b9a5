import { List } from '@causeway/service/http/paging.ts';
import { Closed, Nullable, ObjectName, Timestamp } from '@causeway/service/http/wire.ts';
import Type from 'typebox';

/** An item with the same field types as an offer. */
export const Item = Closed({
  object: ObjectName('thing'),
  id: Type.String(),
  slug: Type.String(),
  tagline: Nullable(Type.String()),
  starts_at: Nullable(Timestamp),
  amount: Type.String(),
  decimals: Type.Integer(),
});
export const Items = List(Item, 'Items');

/** A list of about 2 KB. */
export const items = {
  object: 'list' as const,
  data: Array.from({ length: 9 }, (_, i) => ({
    object: 'thing' as const,
    id: `01890000-0000-7000-8000-00000000000${i}`,
    slug: `an-offer-of-a-fine-asset-${i}`,
    tagline: i % 2 === 0 ? null : 'Own a share of something that lasts',
    starts_at: '2026-01-02T03:04:05.678901Z',
    amount: '1000000000000000000',
    decimals: 18,
  })),
  starting_after: 'bm90IGEgcmVhbCBjdXJzb3IgYnV0IGFzIGxvbmcgYXMgb25l',
};
