import Type, { type Static } from 'typebox';
import { Closed } from '../../kernel/wire.ts';

export const Introspect = Closed({
  token: Type.String({ minLength: 1, maxLength: 2048 }),
  token_type_hint: Type.Optional(Type.String({ maxLength: 100 })),
  client_id: Type.Optional(Type.String({ maxLength: 200 })),
  client_secret: Type.Optional(Type.String({ maxLength: 200 })),
});

export const Introspection = Closed(
  {
    active: Type.Boolean(),
    client_id: Type.Optional(Type.String()),
    exp: Type.Optional(Type.Integer({ description: 'Unix time.' })),
    iat: Type.Optional(Type.Integer({ description: 'Unix time.' })),
    iss: Type.Optional(Type.String()),
    scope: Type.Optional(Type.String({ description: 'Space-separated.' })),
    sub: Type.Optional(Type.String({ description: 'User id. Absent for partner tokens.' })),
    username: Type.Optional(
      Type.String({ description: "The user's email address. Only with the scope `email`." }),
    ),
  },
  { title: 'Introspection' },
);

export type Introspect = Static<typeof Introspect>;
export type Introspection = Static<typeof Introspection>;
