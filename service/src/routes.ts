import type { Route } from './http/route.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { healthRoutes } from './operations/health.ts';

/** Every route of the API, in the order of the reference. */
export const apiRoutes: readonly Route[] = [...oauthRoutes, ...healthRoutes];
