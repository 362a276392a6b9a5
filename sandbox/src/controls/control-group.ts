import type { Route } from '@causeway/service/platform/http/route.ts';
import type { Plugin } from '@causeway/service/platform/http/server.ts';
import type { SandboxLanding } from '@causeway/service/platform/pages/landing-page.ts';
import type { FaultTargets } from './faults.ts';

/** The routes and other parts that one area (such as mail or the chains) adds to the sandbox. */
export type ControlGroup = {
  /** The fields that this area adds to `GET /sandbox`. */
  overview?: () => Record<string, unknown> | Promise<Record<string, unknown>>;
  routes?: Route[];
  faults?: FaultTargets;
  /** Fastify plugins, for routes whose responses are not JSON. */
  plugins?: Plugin[];
  /** Lines to print when the service is ready. */
  readyLines?: string[];
};

/** All control groups combined, for the server to mount. */
export type Controls = {
  routes: Route[];
  /** Returns the OpenAPI document of the API and of these routes. */
  document(): Promise<object>;
  plugins: Plugin[];
  readyLines: string[];
  landing: SandboxLanding;
};
