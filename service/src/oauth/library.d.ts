/** Parts of the library behind its entry point, which prints a warning about the version of Node on import. */
declare module 'oidc-provider/lib/provider.js' {
  import Provider from 'oidc-provider';

  export { Provider };
}

declare module 'oidc-provider/lib/helpers/errors.js' {
  import { errors } from 'oidc-provider';
  export import CustomOIDCProviderError = errors.CustomOIDCProviderError;
  export import InvalidGrant = errors.InvalidGrant;
  export import InvalidScope = errors.InvalidScope;
  export import OIDCProviderError = errors.OIDCProviderError;
}

declare module 'oidc-provider/lib/helpers/interaction_policy/index.js' {
  import { interactionPolicy } from 'oidc-provider';
  export const base: typeof interactionPolicy.base;
  export import Check = interactionPolicy.Check;
}
