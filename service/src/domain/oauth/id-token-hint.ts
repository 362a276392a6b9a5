import type Provider from 'oidc-provider';
import type { IdTokenHint } from '../../platform/context/ports.ts';

/**
 * Verifies the ID token that tells us which user is signing out (`id_token_hint`). The signature, issuer and client
 * must be valid. An expired token is accepted, because a session can outlive its ID token (OpenID Connect RP-Initiated
 * Logout 1.0 §4).
 */
export async function verifyIdTokenHint(provider: Provider, idToken: string): Promise<IdTokenHint | null> {
  const clientId = audienceOf(idToken);
  const client = clientId === null ? undefined : await provider.Client.find(clientId);
  if (client === undefined) return null;
  try {
    const { payload } = await provider.IdToken.validate(idToken, client);
    return { clientId: client.clientId, userId: String(payload.sub) };
  } catch {
    return null;
  }
}

/** Reads the client from a token that is not verified yet, because verifying the token requires the client. */
function audienceOf(idToken: string): string | null {
  try {
    const { aud } = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) ?? {};
    return typeof aud === 'string' ? aud : null;
  } catch {
    return null;
  }
}
