import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { onDemand } from '../../kit/on-demand.tsx';
import { queryClient, repositoryQuery, resolveRef } from '../../lib/queries.ts';
import { parentOf, svcUri } from '../../lib/paths.ts';
import { usePreference } from '../../lib/use-preference.ts';

const HelpDialog = onDemand(async () => (await import('./help-dialog.tsx')).HelpDialog);

const helpEvent = 'svc:help';

export function openHelp(): void {
  globalThis.dispatchEvent(new Event(helpEvent));
}

const pages = {
  o: '/repositories/$repo/objects',
  c: '/repositories/$repo/commits',
  b: '/repositories/$repo/branches',
  t: '/repositories/$repo/tags',
  p: '/repositories/$repo/pulls',
  d: '/repositories/$repo/compare',
  s: '/repositories/$repo/settings/general',
} as const;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest('input, textarea, select, [role="dialog"], [role="menu"]') !== null)
  );
}

/** Moves the focus among elements of a kind, in the order of the page. */
function step(selector: string, by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = all.findIndex((element) => element === document.activeElement);
  const next = at < 0 ? (by === 1 ? 0 : all.length - 1) : at + by;
  focus(all[next]);
}

function focus(element: HTMLElement | null | undefined): void {
  element?.focus();
  element?.scrollIntoView({ block: 'nearest' });
}

export function Shortcuts(): ReactNode {
  const [helping, setHelping] = useState(false);
  const [enabled, setEnabled] = usePreference<boolean>('single-keys', true);
  const navigate = useNavigate();
  const router = useRouter();

  useEffect(() => {
    let leader = 0;
    const here = (): {
      repo: string | undefined;
      search: { ref?: string | undefined; path?: string | undefined };
    } => {
      const { pathname, search } = router.state.location;
      const repo = /^\/repositories\/([^/]+)/.exec(pathname)?.[1];
      return { repo: repo === undefined ? undefined : decodeURIComponent(repo), search };
    };
    const goUp = (): void => {
      const { repo, search } = here();
      if (repo === undefined || search.path === undefined) return;
      const path = parentOf(search.path);
      void navigate({
        to: '/repositories/$repo/objects',
        params: { repo },
        search: { ref: search.ref, path: path === '' ? undefined : path },
      });
    };
    const pin = async (): Promise<void> => {
      const { repo, search } = here();
      if (repo === undefined || !/\/(objects?|commits)$/.test(router.state.location.pathname)) return;
      const ref = search.ref ?? (await queryClient.ensureQueryData(repositoryQuery(repo))).default_branch;
      const resolved = await resolveRef(repo, ref);
      if (resolved === null) return;
      await navigate({ to: '.', search: { ...search, ref: resolved.commitId } as never, replace: true });
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === '?') {
        setHelping(true);
        return;
      }
      if (event.target instanceof HTMLElement && event.target.matches('[data-row-link]')) {
        const { parent } = event.target.dataset;
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
          event.preventDefault();
          step('[data-row-link]', event.key === 'ArrowDown' ? 1 : -1);
          return;
        }
        if (event.key === 'ArrowRight' && parent !== undefined) {
          event.preventDefault();
          focus(document.querySelector<HTMLElement>(`[data-commit="${parent}"]`));
          return;
        }
      }
      if (!enabled) return;
      const { repo, search } = here();
      const now = Date.now();
      if (now - leader < 1500) {
        leader = 0;
        const to = pages[event.key as keyof typeof pages];
        if (to !== undefined && repo !== undefined) {
          event.preventDefault();
          void navigate({ to, params: { repo } });
        }
        return;
      }
      switch (event.key) {
        case 'g':
          leader = now;
          break;
        case '/': {
          const filter = document.querySelector<HTMLInputElement>('[data-filter]');
          if (filter === null) return;
          event.preventDefault();
          filter.focus();
          break;
        }
        case 'j':
          step('[data-row-link]', 1);
          break;
        case 'k':
          step('[data-row-link]', -1);
          break;
        case ']':
          step('[data-diff-file]', 1);
          break;
        case '[':
          step('[data-diff-file]', -1);
          break;
        case 'u':
        case 'Backspace':
          goUp();
          break;
        case 'y':
          void pin();
          break;
        case 'c':
          if (repo !== undefined) {
            void navigator.clipboard.writeText(
              search.ref === undefined ? `svc://${repo}` : svcUri(repo, search.ref, search.path),
            );
          }
          break;
        default:
      }
    };
    const onHelp = (): void => setHelping(true);
    document.addEventListener('keydown', onKey);
    globalThis.addEventListener(helpEvent, onHelp);
    return () => {
      document.removeEventListener('keydown', onKey);
      globalThis.removeEventListener(helpEvent, onHelp);
    };
  }, [enabled, navigate, router]);

  return helping ? (
    <HelpDialog enabled={enabled} onEnable={setEnabled} onClose={() => setHelping(false)} />
  ) : null;
}
