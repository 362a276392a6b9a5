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
import { logCall } from './calls.ts';
import { type DemoConfig, loadJson, type SessionState } from './config.ts';
import { noticeCall, noticingFetch, watchService } from './reachability.ts';
import { testWallets } from './wallets/test-wallets.ts';

type Started = {
  config: DemoConfig;
  session: SessionState;
  client: Causeway;
  wallets: readonly WalletConnector[];
  identity: IdentityLauncher | undefined;
};

async function start(): Promise<Started> {
  const [config, session] = await Promise.all([
    loadJson<DemoConfig>('/config.json'),
    loadJson<SessionState>('/causeway/session'),
  ]);
  watchService(config.base_url);
  const client = createCauseway({
    baseUrl: config.base_url,
    accessToken: browserToken({ fetch: noticingFetch }),
    onCall: (call) => {
      logCall(call);
      noticeCall(call);
    },
  });
  const { identity_flow_url } = config;
  return {
    config,
    session,
    client,
    wallets: config.is_sandbox ? testWallets(config.chains) : [],
    identity: identity_flow_url === null ? undefined : hostedIdentity(identity_flow_url),
  };
}

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 5_000;

/** Asks the server what the app needs, until it answers. */
function useStart(): { started: Started | null; isFailing: boolean } {
  const [started, setStarted] = useState<Started | null>(null);
  const [isFailing, setFailing] = useState(false);
  useEffect(() => {
    let isGone = false;
    const run = async () => {
      for (let pause = FIRST_PAUSE; !isGone; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
        try {
          const done = await start();
          if (!isGone) setStarted(done);
          return;
        } catch {
          setFailing(true);
          await new Promise((next) => setTimeout(next, pause));
        }
      }
    };
    void run();
    return () => {
      isGone = true;
    };
  }, []);
  return { started, isFailing };
}

export function Boot() {
  const { started, isFailing } = useStart();
  const app = useMemo(() => started && { config: started.config, session: started.session }, [started]);
  if (started === null || app === null) return <Waiting isFailing={isFailing} />;
  return (
    <AppContext.Provider value={app}>
      <CausewayProvider client={started.client} wallets={started.wallets} identity={started.identity}>
        <App />
      </CausewayProvider>
    </AppContext.Provider>
  );
}

/** The frame of the page, so that nothing moves when the rest comes. */
function Waiting({ isFailing }: { isFailing: boolean }) {
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
            <p>The server does not answer yet. This page tries again by itself.</p>
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
