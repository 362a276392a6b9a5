import Type, { type Static } from 'typebox';
import { Closed, Nullable, ObjectName } from '../../kernel/wire.ts';

const Text = Nullable(Type.String());

export const UserPii = Closed(
  {
    object: ObjectName('user_pii'),
    kind: Type.Enum(['person', 'company']),
    full_legal_name: Text,
    date_of_birth: Nullable(Type.String({ description: '`YYYY-MM-DD`. Null for companies.' })),
    jurisdiction: Nullable(Closed({ iso_2: Type.String(), name: Type.String() })),
    permanent_address: Closed({
      street: Text,
      city: Text,
      state: Text,
      postal_code: Text,
      country: Nullable(
        Type.String({ description: "ISO 3166-1 alpha-2 code. `jurisdiction` contains the country's name." }),
      ),
    }),
    tax_id: Text,
  },
  { title: 'UserPii' },
);
export type UserPii = Static<typeof UserPii>;
