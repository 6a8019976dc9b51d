# The machine that builds. The check writes its own in place of this one.
{
  bash = "/bin/bash";
  path = "/usr/local/go/bin:/usr/bin:/bin";
  goCache = "/tmp/go-cache";
}
