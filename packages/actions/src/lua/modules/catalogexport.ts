/** Modules that export tables to catalogs, by the last part of their name. Written in Lua, as scripts see them. */
export const catalogExportSources: Readonly<Record<string, string>> = {
  internal: String.raw`
local url = require("net/url")
local svc = require("svc")
local DEFAULT_SHORT_DIGEST_LEN = 6

local function deepcopy(orig)
  if type(orig) ~= 'table' then return orig end
  local copy = {}
  for key, value in next, orig, nil do copy[deepcopy(key)] = deepcopy(value) end
  return setmetatable(copy, getmetatable(orig))
end

local function short_digest(digest, len)
  return digest:sub(1, len or DEFAULT_SHORT_DIGEST_LEN)
end

local function parse_storage_uri(uri)
  local u = url.parse(uri)
  return { protocol = u.scheme, bucket = u.host, key = (u.path:sub(1, 1) == "/") and u.path:sub(2) or u.path }
end

local function ref_from_branch_or_tag(action_info)
  local event = action_info.event_type
  if event == "pre-create-tag" or event == "post-create-tag" then return action_info.tag_id end
  return action_info.branch_id
end

local function lakefs_paginiated_api(api_call, after)
  local next_offset, has_more = after or "", true
  return function()
    if not has_more then return nil end
    local code, resp = api_call(next_offset)
    if code < 200 or code >= 300 then
      error("lakeFS: api return non-2xx " .. tostring(code) .. (type(resp) == 'table' and resp.message and (": " .. resp.message) or ""))
    end
    has_more = resp.pagination.has_more
    next_offset = resp.pagination.next_offset
    return resp.results
  end
end

local function lakefs_object_pager(client, repo_id, commit_id, after, prefix, delimiter, page_size)
  return lakefs_paginiated_api(function(next_offset)
    return client.list_objects(repo_id, commit_id, next_offset, prefix or "", delimiter or "", page_size or 30)
  end, after)
end

local function sortedKeys(query, sortFunction)
  local keys = {}
  for key in pairs(query) do keys[#keys + 1] = key end
  table.sort(keys, sortFunction)
  return keys
end

local function get_storage_uri_prefix(storage_ns, commit_id, action_info)
  local path = require("path")
  return path.join("/", storage_ns, EXPORT_PREFIX, ref_from_branch_or_tag(action_info), short_digest(commit_id)) .. "/"
end

return {
  deepcopy = deepcopy,
  parse_storage_uri = parse_storage_uri,
  short_digest = short_digest,
  ref_from_branch_or_tag = ref_from_branch_or_tag,
  lakefs_object_pager = lakefs_object_pager,
  lakefs_paginiated_api = lakefs_paginiated_api,
  sortedKeys = sortedKeys,
  get_storage_uri_prefix = get_storage_uri_prefix,
}
`,
  table_extractor: String.raw`
local path, yaml, strings = require("path"), require("encoding/yaml"), require("strings")
local internal = require("svc/catalogexport/internal")
local FOLDERS = { "_svc_tables/", "_lakefs_tables/" }

local function list_table_descriptor_entries(client, repo_id, commit_id)
  local entries = {}
  for _, folder in ipairs(FOLDERS) do
    for page in internal.lakefs_object_pager(client, repo_id, commit_id, "", folder, "", 100) do
      for _, entry in ipairs(page) do
        local inner = entry.path:sub(#folder + 1)
        if entry.path_type == "object" and strings.has_suffix(inner, ".yaml") and not path.is_hidden(inner) then
          entries[#entries + 1] = { physical_address = entry.physical_address, path = entry.path }
        end
      end
    end
  end
  return entries
end

local function get_table_descriptor(client, repo_id, logical_ref, logical_path)
  local code, content = client.get_object(repo_id, logical_ref, logical_path)
  if code ~= 200 then error("could not fetch data file: HTTP " .. tostring(code) .. " path: " .. logical_path) end
  local descriptor = yaml.unmarshal(content)
  descriptor.partition_columns = descriptor.partition_columns or array({})
  return descriptor
end

return {
  list_table_descriptor_entries = list_table_descriptor_entries,
  get_table_descriptor = get_table_descriptor,
}
`,
  hive: String.raw`
local path, strings = require("path"), require("strings")
local internal = require("svc/catalogexport/internal")

-- The partition of a key: its part up to the last of the columns, or nil when one is missing.
local function partition_of(columns, key)
  if #columns == 0 then return "" end
  local parts, found = strings.split(key, "/"), {}
  local column = 1
  for i = 1, #parts - 1 do
    found[#found + 1] = parts[i]
    if strings.has_prefix(parts[i], columns[column] .. "=") then
      column = column + 1
      if column > #columns then return table.concat(found, "/") .. "/" end
    end
  end
  return nil
end

local function extract_partition_pager(client, repo_id, commit_id, base_path, partition_cols, page_size)
  local prefix = base_path
  if prefix ~= "" and not strings.has_suffix(prefix, "/") then prefix = prefix .. "/" end
  local pages = internal.lakefs_object_pager(client, repo_id, commit_id, "", prefix, "", page_size or 30)
  local page, position, pending = nil, 0, nil

  local function next_entry()
    if pending ~= nil then
      local entry = pending
      pending = nil
      return entry
    end
    while true do
      if page == nil or position >= #page then
        page, position = pages(), 0
        if page == nil then return nil end
      else
        position = position + 1
        local entry = page[position]
        local inner = entry.path:sub(#prefix + 1)
        local key = partition_of(partition_cols, inner)
        local is_marker = entry.size_bytes == 0 and (inner == "" or strings.has_suffix(inner, "/") or inner == key)
        if key ~= nil and not path.is_hidden(inner) and not is_marker then return { key = key, entry = entry } end
      end
    end
  end

  return function()
    local first = next_entry()
    if first == nil then return nil end
    local key, entries = first.key, {}
    local current = first
    while current ~= nil and current.key == key do
      local entry = current.entry
      entries[#entries + 1] = {
        physical_address = entry.physical_address, path = entry.path, size = entry.size_bytes, checksum = entry.checksum,
      }
      current = next_entry()
    end
    pending = current
    return key == "" and "" or prefix .. key, entries
  end
end

return { extract_partition_pager = extract_partition_pager }
`,
  symlink_exporter: String.raw`
local svc, path, strings = require("svc"), require("path"), require("strings")
local extractor = require("svc/catalogexport/table_extractor")
local hive = require("svc/catalogexport/hive")
local internal = require("svc/catalogexport/internal")

local function export_s3(s3_client, table_src_path, action_info, options)
  options = options or {}
  local repo_id, commit_id = action_info.repository_id, action_info.commit_id
  local base_uri = options.export_base_uri or action_info.storage_namespace
  local descriptor = extractor.get_table_descriptor(svc, repo_id, commit_id, table_src_path)
  if descriptor.type ~= "hive" then error("unsupported table type: " .. tostring(descriptor.type)) end
  if not descriptor.name then error("table name is required") end
  if not descriptor.path then error("table path is required") end
  local location = internal.parse_storage_uri(internal.get_storage_uri_prefix(base_uri, commit_id, action_info))
  local write = options.writer or s3_client.put_object
  local base_path = descriptor.path
  if not strings.has_suffix(base_path, "/") then base_path = base_path .. "/" end
  for partition, entries in hive.extract_partition_pager(svc, repo_id, commit_id, descriptor.path, descriptor.partition_columns) do
    local relative = partition
    if not options.skip_trim_obj_base_path and strings.has_prefix(partition, base_path) then
      relative = partition:sub(#base_path + 1)
    end
    local lines = {}
    for _, entry in ipairs(entries) do lines[#lines + 1] = entry.physical_address .. "\n" end
    local key = location.key .. descriptor.name .. "/" .. relative .. "symlink.txt"
    if options.debug then print("writing symlink " .. location.bucket .. "/" .. key) end
    write(location.bucket, key, table.concat(lines))
  end
  return { location = location }
end

return { export_s3 = export_s3 }
`,
  glue_exporter: String.raw`
local svc, json, path = require("svc"), require("encoding/json"), require("path")
local extractor = require("svc/catalogexport/table_extractor")
local internal = require("svc/catalogexport/internal")

local function get_full_table_name(descriptor, action_info)
  return descriptor.name .. "_" .. action_info.repository_id .. "_" ..
    internal.ref_from_branch_or_tag(action_info) .. "_" .. internal.short_digest(action_info.commit_id)
end

local function column_of(field)
  return {
    Name = field.name,
    Type = field.type == "integer" and "int" or field.type,
    Comment = field.comment,
    Parameters = field.parameters,
  }
end

local function columns_of(descriptor)
  local is_partition, by_name = {}, {}
  for _, name in ipairs(descriptor.partition_columns) do is_partition[name] = true end
  local columns, partitions = array({}), array({})
  for _, field in ipairs(descriptor.schema.fields or {}) do
    by_name[field.name] = field
    if not is_partition[field.name] then columns[#columns + 1] = column_of(field) end
  end
  for _, name in ipairs(descriptor.partition_columns) do
    if by_name[name] == nil then error("partition column " .. name .. " is not in the schema") end
    partitions[#partitions + 1] = column_of(by_name[name])
  end
  return columns, partitions
end

local function export_glue(glue, db, table_src_path, create_table_input, action_info, options)
  options = options or {}
  local repo_id, commit_id = action_info.repository_id, action_info.commit_id
  local descriptor = extractor.get_table_descriptor(svc, repo_id, commit_id, table_src_path)
  local base_uri = options.export_base_uri or action_info.storage_namespace
  local columns, partitions = columns_of(descriptor)
  local input = internal.deepcopy(create_table_input)
  input.Name = options.table_name or get_full_table_name(descriptor, action_info)
  input.PartitionKeys = partitions
  input.TableType = "EXTERNAL_TABLE"
  input.StorageDescriptor = input.StorageDescriptor or {}
  input.StorageDescriptor.Columns = columns
  input.StorageDescriptor.Location = internal.get_storage_uri_prefix(base_uri, commit_id, action_info) .. descriptor.name
  if options.create_db_input ~= nil then
    glue.create_database(db, { create_db_input = options.create_db_input, error_on_already_exists = false })
  end
  local text = json.marshal(input)
  if options.debug then print("creating glue table: " .. text) end
  local _, exists = glue.get_table(db, input.Name)
  if exists then glue.update_table(db, text) else glue.create_table(db, text) end
  return { table_input = input }
end

return { get_full_table_name = get_full_table_name, export_glue = export_glue }
`,
};
