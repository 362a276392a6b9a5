import type { FastifyRequest } from 'fastify';
import type { Static, TSchema, TUnknown } from 'typebox';
import type { LimitName } from '../config.ts';
import type { Context } from '../context.ts';
import type { ErrorCode } from '../errors.ts';
import type { Caller, Scope, UserCaller } from './access.ts';

/** Who may call a route. A route without it does not boot. */
export type Access = { who: 'public' } | { who: 'partner' | 'user'; scope: Scope };

type Input<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  params: Static<P>;
  query: Static<Q>;
  body: Static<B>;
  request: FastifyRequest;
};

type Declaration<C, P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema> = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  operationId: string;
  summary: string;
  /** What the reference says below the summary. */
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  /** Form-urlencoded bodies are accepted beside JSON. */
  forms?: true;
  /** `request.body` is the bytes of the JSON, at most 1 MiB: for signatures over them, checked before anything is parsed. */
  rawBody?: true;
  reply: R;
  /**
   * Written by `JSON.stringify`, for a reply of alternatives, which the schema's serializer would try one after the
   * other. Nothing is cut from it: the handler must build exactly what the schema says, and a test must hold it to that.
   */
  plainReply?: true;
  /** Codes beyond those that any route can answer. */
  errors?: readonly ErrorCode[];
  /** A budget of its own beside the caller's general one. */
  limit?: LimitName;
  /**
   * `etag` for what is the same for all users of a partner; all else is `no-store`. A handler that answers such a route
   * at once, without a promise, answers an object that never changes: its text is kept.
   */
  cache?: 'etag';
  /** The text is kept likewise, but no caller may keep the reply: for what many ask and seldom changes here. */
  keepsText?: true;
  handle(ctx: Context, caller: C, input: Input<P, Q, B>): Promise<Static<R>> | Static<R>;
};

/** A declared route, its types checked at the declaration. */
export type Route = Omit<Declaration<never, TSchema, TSchema, TSchema, TSchema>, 'handle'> & {
  access: Access;
  handle(ctx: Context, caller: Caller | null, input: unknown): unknown;
};

/** For signed-in users only. */
export function userRoute<
  R extends TSchema,
  P extends TSchema = TUnknown,
  Q extends TSchema = TUnknown,
  B extends TSchema = TUnknown,
>(scope: Scope, declaration: Declaration<UserCaller, P, Q, B, R>): Route {
  return { ...declaration, access: { who: 'user', scope } } as unknown as Route;
}

/** For partners, with or without a user. */
export function partnerRoute<
  R extends TSchema,
  P extends TSchema = TUnknown,
  Q extends TSchema = TUnknown,
  B extends TSchema = TUnknown,
>(scope: Scope, declaration: Declaration<Caller, P, Q, B, R>): Route {
  return { ...declaration, access: { who: 'partner', scope } } as unknown as Route;
}

/** For anyone who can reach the service. */
export function publicRoute<
  R extends TSchema,
  P extends TSchema = TUnknown,
  Q extends TSchema = TUnknown,
  B extends TSchema = TUnknown,
>(declaration: Declaration<null, P, Q, B, R>): Route {
  return { ...declaration, access: { who: 'public' } } as unknown as Route;
}
