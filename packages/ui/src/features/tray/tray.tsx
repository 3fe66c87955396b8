import { ActionIcon } from '@mantine/core';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { plural } from '../../lib/format.ts';
import { useWorks } from '../../lib/works.ts';
import { ImportItem } from './import-item.tsx';
import { UploadItem } from './upload-item.tsx';

/** Uploads and imports, on every page until they are done. */
export function Tray(): ReactNode {
  const { uploads, imports } = useWorks();
  const [isOpen, setOpen] = useState(true);
  return (
    <section className="tray box" aria-label="Uploads and imports">
      <div className="box-head">
        <h2>{plural(uploads.length + imports.length, 'task')}</h2>
        <ActionIcon
          className="right"
          variant="subtle"
          color="gray"
          size={26}
          aria-expanded={isOpen}
          aria-label={isOpen ? 'Hide tasks' : 'Show tasks'}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? <ChevronDown size={15} /> : <ChevronUp size={15} />}
        </ActionIcon>
      </div>
      {isOpen && (
        <ul className="plain-list">
          {uploads.map((work) => (
            <li key={work.id}>
              <UploadItem work={work} />
            </li>
          ))}
          {imports.map((work) => (
            <li key={work.id}>
              <ImportItem work={work} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
