export type { HasHeaders } from './cookies.ts';
export { createHandler, type Handler, type HandlerOptions } from './handler.ts';
export {
  type FastifyLike,
  type NodeHandler,
  type ToNodeOptions,
  toFastify,
  toNode,
  type WebHandler,
} from './node.ts';
export { type PartnerClientOptions, partnerClient } from './partner-client.ts';
export type { Pending } from './pending.ts';
export { type PostgresClient, type PostgresSessionsOptions, postgresSessions } from './postgres-sessions.ts';
export { type RedisClient, type RedisSessionsOptions, redisSessions } from './redis-sessions.ts';
export { type RenewedSession, renewSession } from './renew-session.ts';
export { type CookieSessionsOptions, cookieSessions, type Session, type SessionStore } from './session.ts';
export { type MemorySessionsOptions, memorySessions, type SessionStorage } from './session-storage.ts';
export { type AuthorizeOptions, createSignIn, type SignIn, type SignInOptions } from './sign-in.ts';
export { isSignInError, SignInError, type SignInErrorCode } from './sign-in-error.ts';
export type { ClientCredentials } from './token-endpoint.ts';
export { type UserClient, type UserClientOptions, userClient } from './user-client.ts';
export { type VerifyWebhookOptions, verifyWebhook } from './verify-webhook.ts';
export { isWebhookError, WebhookError, type WebhookErrorCode } from './webhook-error.ts';
