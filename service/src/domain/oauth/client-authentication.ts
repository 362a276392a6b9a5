import type Provider from 'oidc-provider';
import { CustomOIDCProviderError } from 'oidc-provider/lib/helpers/errors.js';
import { Provider as OidcProvider } from 'oidc-provider/lib/provider.js';
import { matchesSecret } from '../../kernel/secret-hash.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { ExtraMetadata } from './client.ts';

/**
 * Makes oidc-provider compare client secrets by hash. Also makes oidc-provider count token requests against the
 * client's rate limit, but only after the client has authenticated, so that nobody else can use up the limit.
 */
export function authenticateByHash(
  { limiter, config }: Pick<Kernel, 'limiter' | 'config'>,
  provider: Provider,
): void {
  provider.Client.prototype.compareClientSecret = async function (secret: string): Promise<boolean> {
    const { secret_hashes } = this as unknown as ExtraMetadata;
    const hashes = secret_hashes.map((hash) => Buffer.from(hash, 'hex'));
    if (!matchesSecret(secret, hashes)) return false;
    const koa = OidcProvider.ctx;
    if (koa === undefined || koa.oidc.route !== 'token') return true;
    const taken = await limiter.take(`oauth_token ${this.clientId}`, config.limits.oauth_token);
    koa.set({
      'ratelimit-limit': `${taken.limit}`,
      'ratelimit-remaining': `${taken.remaining}`,
      'ratelimit-reset': `${taken.resetSeconds}`,
    });
    if (taken.allowed) return true;
    koa.set('retry-after', String(taken.resetSeconds));
    throw Object.assign(new CustomOIDCProviderError('temporarily_unavailable', 'too many token requests'), {
      status: 429,
      statusCode: 429,
    });
  };
}
