import { acknowledgementRoutes } from '../domain/acknowledgements/routes.ts';
import { documentRoutes, documentWebhookRoutes } from '../domain/documents/routes.ts';
import { eligibilityRoutes } from '../domain/eligibility/routes.ts';
import { identityRoutes, identityWebhookRoutes } from '../domain/identity/routes.ts';
import { oauthRoutes } from '../domain/oauth/routes.ts';
import { offerRoutes } from '../domain/offers/routes.ts';
import { participationRoutes } from '../domain/participations/routes.ts';
import { piiRoutes } from '../domain/pii/routes.ts';
import { requirementRoutes } from '../domain/requirements/routes.ts';
import { swapRoutes } from '../domain/swaps/routes.ts';
import { tokenizedRoutes } from '../domain/tokenized/routes.ts';
import { walletRoutes } from '../domain/wallets/routes.ts';
import { webhookRoutes } from '../domain/webhooks/routes.ts';
import { eventRoutes } from '../platform/events/routes.ts';
import type { Route } from '../platform/http/route.ts';
import { healthRoutes } from './operations/health.ts';

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
