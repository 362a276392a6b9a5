import { oauthOperations } from '../../domain/oauth/openapi-operations.ts';
import { VERSION } from '../../kernel/version.ts';
import { openApiDocument } from '../../platform/http/openapi.ts';
import type { Route } from '../../platform/http/route.ts';
import { API_DESCRIPTION, API_GROUPS } from './api-groups.ts';

/** Returns the OpenAPI document for these routes and for the authorization server. */
export function apiDocument(routes: readonly Route[]): Record<string, unknown> {
  return openApiDocument({
    version: VERSION,
    description: API_DESCRIPTION,
    routes,
    groups: API_GROUPS,
    extra: oauthOperations,
  });
}
