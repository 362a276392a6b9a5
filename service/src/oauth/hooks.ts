/** Callbacks that the hosted pages register with the authorization server. */
export type OAuthHooks = {
  /**
   * Returns the user who is signed in to the hosted pages according to the browser's cookies. When set, oidc-provider's
   * session follows it: signing out or switching accounts on the pages also does so in oidc-provider.
   */
  signedInUser: ((cookies: string | undefined) => Promise<string | null>) | null;
};
