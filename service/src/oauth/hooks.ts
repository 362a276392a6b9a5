/** Callbacks that the hosted pages register with the authorization server. */
export type OAuthHooks = {
  /**
   * Returns the user who is signed in to the hosted pages according to the browser's cookies. If this callback is set,
   * oidc-provider's session follows the pages: signing out or switching accounts there also ends the session of
   * oidc-provider.
   */
  signedInUser: ((cookies: string | undefined) => Promise<string | null>) | null;
};
