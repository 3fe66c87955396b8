import { useQuery } from '@tanstack/react-query';
import { BookOpen } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import { Skeletons } from '../../kit/basics.tsx';
import { baseName } from '../../lib/paths.ts';
import { fetchText } from '../../lib/object-data.ts';
import { useInSight } from '../../lib/use-in-sight.ts';
import { useRepository } from '../shell/repository-context.tsx';

const MarkdownView = lazy(async () => ({
  default: (await import('../../kit/markdown-view.tsx')).MarkdownView,
}));

/** The README of a folder, below its entries; read when it comes in sight. */
export function Readme({ refName, path }: { refName: string; path: string }): ReactNode {
  const repository = useRepository();
  const [isInSight, section] = useInSight();
  const { data } = useQuery({
    enabled: isInSight,
    queryKey: ['text', repository.id, refName, path],
    queryFn: ({ signal }) => fetchText(repository.id, refName, path, { limit: 1024 * 1024, signal }),
  });
  return (
    <section className="box" aria-label={baseName(path)} ref={section}>
      <div className="box-head">
        <BookOpen size={15} aria-hidden />
        <h2>{baseName(path)}</h2>
      </div>
      {data === undefined ? (
        <Skeletons />
      ) : (
        <Suspense fallback={<Skeletons />}>
          <MarkdownView text={data.text} place={{ repository: repository.id, ref: refName, path }} />
        </Suspense>
      )}
    </section>
  );
}
