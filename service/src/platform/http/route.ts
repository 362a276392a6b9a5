import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema, TUnknown } from 'typebox';
import type { Caller, Scope, UserCaller } from '../../kernel/access.ts';
import type { LimitName } from '../../kernel/config/config.ts';
import type { ErrorCode } from '../../kernel/errors.ts';
import type { Context } from '../context/context.ts';

/** Who may call a route. The service starts only if every route declares its access. */
export type Access = { who: 'public' } | { who: 'partner' | 'user'; scope: Scope };

type Input<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  params: Static<P>;
  query: Static<Q>;
  body: Static<B>;
  request: FastifyRequest;
  reply: FastifyReply;
};

type Declaration<C, P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema> = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  operationId: string;
  summary: string;
  /** The text below the summary in the API reference. */
  description?: string;
  params?: P;
  query?: Q;
  /** The field names that `filters[i][field]` accepts. Only for routes that read filters. */
  filters?: readonly string[];
  body?: B;
  /** Accepts form-urlencoded bodies in addition to JSON. */
  forms?: true;
  /** Passes the unparsed JSON bytes (at most 1 MiB), so that the handler can verify a signature before parsing. */
  rawBody?: true;
  reply: R;
  /**
   * Serializes the reply with `JSON.stringify`. Used for replies whose schema is a union, because the schema's
   * serializer would try the variants one by one. `JSON.stringify` keeps undeclared members, so a test must check that
   * replies contain only declared members.
   */
  plainReply?: true;
  /**
   * Replies with server-sent events. `handle` returns a stream of the events' text. The stream ends when the connection
   * closes.
   */
  stream?: true;
  /** Error codes in addition to the codes that every route can return. */
  errors?: readonly ErrorCode[];
  /** A rate limit in addition to the caller's general rate limit. */
  limit?: LimitName;
  /**
   * Set to `etag` for replies that are the same for all users of a partner. If unset, replies are `no-store`. If the
   * handler returns synchronously, the returned object must be immutable, because its serialized text is cached.
   */
  cache?: 'etag';
  /**
   * Caches the serialized text of immutable objects, as `cache` does, but the reply stays `no-store` for
   * callers.
   */
  keepsText?: true;
  /** Set on GET routes that write to the audit log, so that the audit entry names the request and the caller. */
  isAudited?: true;
  /**
   * Throws if the stored reply of an idempotent request must not be returned again. Used for replies that
   * grant a permission.
   */
  recheck?(ctx: Context, caller: C, input: Input<P, Q, B>, reply: Static<R>): Promise<void>;
  handle(ctx: Context, caller: C, input: Input<P, Q, B>): Promise<Static<R>> | Static<R>;
};

/** A declared route, without its specific types: the functions below have already checked them. */
export type Route = Omit<Declaration<never, TSchema, TSchema, TSchema, TSchema>, 'handle' | 'recheck'> & {
  access: Access;
  recheck?(ctx: Context, caller: Caller | null, input: unknown, reply: unknown): Promise<void>;
  handle(ctx: Context, caller: Caller | null, input: unknown): unknown;
};

/** Declares a route for signed-in users. */
export function userRoute<
  R extends TSchema,
  P extends TSchema = TUnknown,
  Q extends TSchema = TUnknown,
  B extends TSchema = TUnknown,
>(scope: Scope, declaration: Declaration<UserCaller, P, Q, B, R>): Route {
  return { ...declaration, access: { who: 'user', scope } } as unknown as Route;
}

/** Declares a route for partners, with or without a user. */
export function partnerRoute<
  R extends TSchema,
  P extends TSchema = TUnknown,
  Q extends TSchema = TUnknown,
  B extends TSchema = TUnknown,
>(scope: Scope, declaration: Declaration<Caller, P, Q, B, R>): Route {
  return { ...declaration, access: { who: 'partner', scope } } as unknown as Route;
}

/** Declares a route without authentication. */
export function publicRoute<
  R extends TSchema,
  P extends TSchema = TUnknown,
  Q extends TSchema = TUnknown,
  B extends TSchema = TUnknown,
>(declaration: Declaration<null, P, Q, B, R>): Route {
  return { ...declaration, access: { who: 'public' } } as unknown as Route;
}
