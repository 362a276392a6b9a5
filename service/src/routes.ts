import { acknowledgementRoutes } from './acknowledgements/routes.ts';
import { documentRoutes, documentWebhookRoutes } from './documents/routes.ts';
import { eligibilityRoutes } from './eligibility/routes.ts';
import { eventRoutes } from './events/routes.ts';
import type { Route } from './http/route.ts';
import { identityRoutes, identityWebhookRoutes } from './identity/routes.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { offerRoutes } from './offers/routes.ts';
import { healthRoutes } from './operations/health.ts';
import { participationRoutes } from './participations/routes.ts';
import { piiRoutes } from './pii/routes.ts';
import { requirementRoutes } from './requirements/routes.ts';
import { swapRoutes } from './swaps/routes.ts';
import { tokenizedRoutes } from './tokenized/routes.ts';
import { walletRoutes } from './wallets/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route of the API, in the order of the API reference. */
export const apiRoutes: readonly Route[] = [
  ...offerRoutes,
  ...requirementRoutes,
  ...eligibilityRoutes,
  ...acknowledgementRoutes,
  ...identityRoutes,
  ...piiRoutes,
  ...documentRoutes,
  ...identityWebhookRoutes,
  ...documentWebhookRoutes,
  ...walletRoutes,
  ...participationRoutes,
  ...swapRoutes,
  ...tokenizedRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...oauthRoutes,
  ...healthRoutes,
];
