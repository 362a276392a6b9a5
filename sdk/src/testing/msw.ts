import { createMockService, type MockService } from './mock-service.ts';

/** The part of MSW's `http` that the handlers use. Declared here, because the SDK does not depend on MSW. */
export type MswHttp<Handler> = {
  all(path: string, resolver: (info: { request: Request }) => Promise<Response>): Handler;
};

/**
 * Returns MSW handlers (Mock Service Worker 2) that use a mock service. They answer every request to the service and to
 * your app's session and token routes. Handlers that you list before them take precedence.
 *
 * @example
 * ```ts
 * import { createMockService, mswHandlers, type MswHttp } from '@causeway/sdk/testing';
 *
 * const http: MswHttp<string> = { all: (path) => path }; // in your tests: import { http } from 'msw'
 * const mock = createMockService();
 * console.log(mswHandlers(http, mock)); // setupServer(...mswHandlers(http, mock))
 * ```
 */
export function mswHandlers<Handler>(
  http: MswHttp<Handler>,
  service: MockService = createMockService(),
  { prefix = '/causeway' }: { prefix?: string | undefined } = {},
): Handler[] {
  const resolve = ({ request }: { request: Request }) => service.respond(request);
  return ['*/v1/*', `*${prefix}/session`, `*${prefix}/token`].map((path) => http.all(path, resolve));
}
