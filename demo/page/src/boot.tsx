import { browserToken, type Causeway, createCauseway } from '@causeway/sdk';
import {
  CausewayProvider,
  hostedIdentity,
  type IdentityLauncher,
  type WalletConnector,
} from '@causeway/sdk/react';
import { useEffect, useMemo, useState } from 'react';
import { App } from './app.tsx';
import { AppContext } from './app-context.tsx';
import { logCall } from './call-log.ts';
import { type DemoConfig, loadJson, type SessionState } from './config.ts';
import { fetchAndReport, reportCall, watchService } from './reachability.ts';
import { testWallets } from './wallets/test-wallets.ts';

type AppSetup = {
  config: DemoConfig;
  session: SessionState;
  client: Causeway;
  wallets: readonly WalletConnector[];
  identity: IdentityLauncher | undefined;
  rpcUrls: Record<string, readonly string[]>;
};

async function setUp(): Promise<AppSetup> {
  const [config, session] = await Promise.all([
    loadJson<DemoConfig>('/config.json'),
    loadJson<SessionState>('/causeway/session'),
  ]);
  watchService(config.base_url);
  const client = createCauseway({
    baseUrl: config.base_url,
    accessToken: browserToken({ fetch: fetchAndReport }),
    onCall: (call) => {
      logCall(call);
      reportCall(call);
    },
  });
  const { identity_flow_url } = config;
  return {
    config,
    session,
    client,
    wallets: config.is_sandbox ? testWallets(config.chains) : [],
    identity: identity_flow_url === null ? undefined : hostedIdentity(identity_flow_url),
    rpcUrls: Object.fromEntries(config.chains.map(({ chain, rpc_url }) => [chain, [rpc_url]])),
  };
}

const FIRST_RETRY_DELAY_MS = 1_000;
const MAX_RETRY_DELAY_MS = 5_000;

/** Loads the app's configuration and session, and retries until the server responds. */
function useSetup(): { setup: AppSetup | null; isFailing: boolean } {
  const [setup, setSetup] = useState<AppSetup | null>(null);
  const [isFailing, setFailing] = useState(false);
  useEffect(() => {
    let isUnmounted = false;
    const run = async () => {
      for (
        let delay = FIRST_RETRY_DELAY_MS;
        !isUnmounted;
        delay = Math.min(delay * 1.5, MAX_RETRY_DELAY_MS)
      ) {
        try {
          const loaded = await setUp();
          if (!isUnmounted) setSetup(loaded);
          return;
        } catch {
          setFailing(true);
          await new Promise((resolve) => setTimeout(resolve, delay));
        }
      }
    };
    void run();
    return () => {
      isUnmounted = true;
    };
  }, []);
  return { setup, isFailing };
}

export function Boot() {
  const { setup, isFailing } = useSetup();
  const app = useMemo(() => setup && { config: setup.config, session: setup.session }, [setup]);
  if (setup === null || app === null) return <LoadingPage isFailing={isFailing} />;
  return (
    <AppContext.Provider value={app}>
      <CausewayProvider
        client={setup.client}
        wallets={setup.wallets}
        identity={setup.identity}
        supportUrl="mailto:support@harbour-invest.example"
        rpcUrls={setup.rpcUrls}
      >
        <App />
      </CausewayProvider>
    </AppContext.Provider>
  );
}

/** Shows the page's frame, so that the layout does not shift when the content loads. */
function LoadingPage({ isFailing }: { isFailing: boolean }) {
  return (
    <>
      <header className="header">
        <div className="header-inner">
          <span className="brand">Harbour Invest</span>
        </div>
      </header>
      <main className="page">
        {isFailing ? (
          <div role="alert" className="empty-state">
            <h1>One moment, please</h1>
            <p>We can't reach the server yet. We'll keep trying.</p>
          </div>
        ) : (
          <p className="visually-hidden" role="status">
            Loading…
          </p>
        )}
      </main>
    </>
  );
}
